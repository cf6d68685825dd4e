#include "textflag.h"

// func add32(sums *[lanes]float32, terms []float32, places []place[float32], rows []row[float32])
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
	TESTQ   BX, BX
	JLT     row32

	// Up to a lane one number, from there on another.
	MOVSS  8(R8), X8
	SHUFPS $0, X8, X8
	MOVSS  12(R8), X9
	SHUFPS $0, X9, X9
	LEAQ   ·masks32(SB), R13
	NEGQ   BX
	LEAQ   64(R13)(BX*4), R13

#define BLEND32(at, made, other) \
	MOVUPS at(R13), made \
	MOVAPS made, other   \
	ANDPS  X9, made      \
	ANDNPS X8, other     \
	ORPS   other, made

	BLEND32(0, X4, X10)
	BLEND32(16, X5, X11)
	BLEND32(32, X6, X12)
	BLEND32(48, X7, X13)
	JMP    place32

row32:
	NOTQ   BX
	SHLQ   $6, BX
	MOVUPS (R10)(BX*1), X4
	MOVUPS 16(R10)(BX*1), X5
	MOVUPS 32(R10)(BX*1), X6
	MOVUPS 48(R10)(BX*1), X7

place32:
	ADDPS  X4, X0
	ADDPS  X5, X1
	ADDPS  X6, X2
	ADDPS  X7, X3
	ADDQ   $4, SI
	ADDQ   $16, R8
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
	TESTQ   BX, BX
	JLT     row64
	MOVSD    8(R8), X8
	UNPCKLPD X8, X8
	MOVSD    16(R8), X9
	UNPCKLPD X9, X9
	LEAQ     ·masks64(SB), R13
	NEGQ     BX
	LEAQ     128(R13)(BX*8), R13

#define BLEND(at, sum) \
	MOVUPD at(R13), X10 \
	MOVAPD X10, X11     \
	ANDPD  X9, X10      \
	ANDNPD X8, X11      \
	ORPD   X11, X10     \
	ADDPD  X10, sum

	BLEND(0, X0)
	BLEND(16, X1)
	BLEND(32, X2)
	BLEND(48, X3)
	BLEND(64, X4)
	BLEND(80, X5)
	BLEND(96, X6)
	BLEND(112, X7)
	JMP place64

row64:
	NOTQ   BX
	SHLQ   $7, BX

#define ROW(at, sum) \
	MOVUPD at(R10)(BX*1), X8 \
	ADDPD  X8, sum

	ROW(0, X0)
	ROW(16, X1)
	ROW(32, X2)
	ROW(48, X3)
	ROW(64, X4)
	ROW(80, X5)
	ROW(96, X6)
	ROW(112, X7)

place64:
	ADDQ   $8, SI
	ADDQ   $24, R8
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
