#include "textflag.h"

// func add32(sums *[lanes]float32, terms []float32, places []place, rows []row[float32])
//
// Sixteen sums stay in four registers, X0 to X3. A term is copied to all places of
// another and added to each; ADDPS rounds as ADDSS does.
TEXT ·add32(SB), NOSPLIT, $0-80
	MOVQ   sums+0(FP), DI
	MOVQ   terms_base+8(FP), SI
	MOVQ   terms_len+16(FP), CX
	MOVQ   places_base+32(FP), R8
	MOVQ   places_len+40(FP), R9
	MOVQ   rows_base+56(FP), R10
	LEAQ   (SI)(CX*4), R11         // the end of terms
	MOVQ   SI, R12                 // their beginning
	MOVUPS (DI), X0
	MOVUPS 16(DI), X1
	MOVUPS 32(DI), X2
	MOVUPS 48(DI), X3

run32:
	// Terms up to DX are alike in all sums.
	MOVQ    R11, DX
	TESTQ   R9, R9
	JZ      next32
	MOVLQSX (R8), AX
	LEAQ    (R12)(AX*4), DX
	JMP     next32

loop32:
	MOVSS  (SI), X4
	SHUFPS $0, X4, X4
	ADDPS  X4, X0
	ADDPS  X4, X1
	ADDPS  X4, X2
	ADDPS  X4, X3
	ADDQ   $4, SI

next32:
	CMPQ SI, DX
	JB   loop32
	TESTQ R9, R9
	JZ   done32
	MOVLQSX 4(R8), BX
	SHLQ   $6, BX
	MOVUPS (R10)(BX*1), X4
	MOVUPS 16(R10)(BX*1), X5
	MOVUPS 32(R10)(BX*1), X6
	MOVUPS 48(R10)(BX*1), X7
	ADDPS  X4, X0
	ADDPS  X5, X1
	ADDPS  X6, X2
	ADDPS  X7, X3
	ADDQ   $4, SI
	ADDQ   $8, R8
	DECQ   R9
	JMP    run32

done32:
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	MOVUPS X2, 32(DI)
	MOVUPS X3, 48(DI)
	RET

// func add64(sums *[lanes]float64, terms []float64, places []place, rows []row[float64])
TEXT ·add64(SB), NOSPLIT, $0-80
	MOVQ   sums+0(FP), DI
	MOVQ   terms_base+8(FP), SI
	MOVQ   terms_len+16(FP), CX
	MOVQ   places_base+32(FP), R8
	MOVQ   places_len+40(FP), R9
	MOVQ   rows_base+56(FP), R10
	LEAQ   (SI)(CX*8), R11
	MOVQ   SI, R12
	MOVUPD (DI), X0
	MOVUPD 16(DI), X1
	MOVUPD 32(DI), X2
	MOVUPD 48(DI), X3
	MOVUPD 64(DI), X4
	MOVUPD 80(DI), X5
	MOVUPD 96(DI), X6
	MOVUPD 112(DI), X7

run64:
	MOVQ    R11, DX
	TESTQ   R9, R9
	JZ      next64
	MOVLQSX (R8), AX
	LEAQ    (R12)(AX*8), DX
	JMP     next64

loop64:
	MOVSD    (SI), X8
	UNPCKLPD X8, X8
	ADDPD    X8, X0
	ADDPD    X8, X1
	ADDPD    X8, X2
	ADDPD    X8, X3
	ADDPD    X8, X4
	ADDPD    X8, X5
	ADDPD    X8, X6
	ADDPD    X8, X7
	ADDQ     $8, SI

next64:
	CMPQ SI, DX
	JB   loop64
	TESTQ R9, R9
	JZ   done64
	MOVLQSX 4(R8), BX
	SHLQ   $7, BX
	MOVUPD (R10)(BX*1), X8
	MOVUPD 16(R10)(BX*1), X9
	MOVUPD 32(R10)(BX*1), X10
	MOVUPD 48(R10)(BX*1), X11
	ADDPD  X8, X0
	ADDPD  X9, X1
	ADDPD  X10, X2
	ADDPD  X11, X3
	MOVUPD 64(R10)(BX*1), X8
	MOVUPD 80(R10)(BX*1), X9
	MOVUPD 96(R10)(BX*1), X10
	MOVUPD 112(R10)(BX*1), X11
	ADDPD  X8, X4
	ADDPD  X9, X5
	ADDPD  X10, X6
	ADDPD  X11, X7
	ADDQ   $8, SI
	ADDQ   $8, R8
	DECQ   R9
	JMP    run64

done64:
	MOVUPD X0, (DI)
	MOVUPD X1, 16(DI)
	MOVUPD X2, 32(DI)
	MOVUPD X3, 48(DI)
	MOVUPD X4, 64(DI)
	MOVUPD X5, 80(DI)
	MOVUPD X6, 96(DI)
	MOVUPD X7, 112(DI)
	RET

// func set32(r *row[float32], mask *[lanes]uint32, v float32)
TEXT ·set32(SB), NOSPLIT, $0-20
	MOVQ   r+0(FP), DI
	MOVQ   mask+8(FP), SI
	MOVSS  v+16(FP), X0
	SHUFPS $0, X0, X0
	XORQ   CX, CX

part32:
	MOVUPS (SI)(CX*1), X1
	MOVUPS (DI)(CX*1), X2
	MOVAPS X1, X3
	ANDPS  X0, X1
	ANDNPS X2, X3 // what the mask leaves
	ORPS   X3, X1
	MOVUPS X1, (DI)(CX*1)
	ADDQ   $16, CX
	CMPQ   CX, $64
	JNE    part32
	RET

// func set64(r *row[float64], mask *[lanes]uint64, v float64)
TEXT ·set64(SB), NOSPLIT, $0-24
	MOVQ     r+0(FP), DI
	MOVQ     mask+8(FP), SI
	MOVSD    v+16(FP), X0
	UNPCKLPD X0, X0
	XORQ     CX, CX

part64:
	MOVUPD (SI)(CX*1), X1
	MOVUPD (DI)(CX*1), X2
	MOVAPD X1, X3
	ANDPD  X0, X1
	ANDNPD X2, X3
	ORPD   X3, X1
	MOVUPD X1, (DI)(CX*1)
	ADDQ   $16, CX
	CMPQ   CX, $128
	JNE    part64
	RET
