#include "textflag.h"

// func add32(sums *row[float32], terms []row[float32])
//
// The sixteen sums stay in four registers; ADDPS rounds as ADDSS does.
TEXT ·add32(SB), NOSPLIT, $0-32
	MOVQ   sums+0(FP), DI
	MOVQ   terms_base+8(FP), SI
	MOVQ   terms_len+16(FP), CX
	MOVUPS (DI), X0
	MOVUPS 16(DI), X1
	MOVUPS 32(DI), X2
	MOVUPS 48(DI), X3
	TESTQ  CX, CX
	JZ     done32

loop32:
	MOVUPS (SI), X4
	MOVUPS 16(SI), X5
	MOVUPS 32(SI), X6
	MOVUPS 48(SI), X7
	ADDPS  X4, X0
	ADDPS  X5, X1
	ADDPS  X6, X2
	ADDPS  X7, X3
	ADDQ   $64, SI
	DECQ   CX
	JNZ    loop32

done32:
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	MOVUPS X2, 32(DI)
	MOVUPS X3, 48(DI)
	RET

// func add64(sums *row[float64], terms []row[float64])
TEXT ·add64(SB), NOSPLIT, $0-32
	MOVQ   sums+0(FP), DI
	MOVQ   terms_base+8(FP), SI
	MOVQ   terms_len+16(FP), CX
	MOVUPD (DI), X0
	MOVUPD 16(DI), X1
	MOVUPD 32(DI), X2
	MOVUPD 48(DI), X3
	MOVUPD 64(DI), X4
	MOVUPD 80(DI), X5
	MOVUPD 96(DI), X6
	MOVUPD 112(DI), X7
	TESTQ  CX, CX
	JZ     done64

loop64:
	MOVUPD (SI), X8
	MOVUPD 16(SI), X9
	MOVUPD 32(SI), X10
	MOVUPD 48(SI), X11
	ADDPD  X8, X0
	ADDPD  X9, X1
	ADDPD  X10, X2
	ADDPD  X11, X3
	MOVUPD 64(SI), X8
	MOVUPD 80(SI), X9
	MOVUPD 96(SI), X10
	MOVUPD 112(SI), X11
	ADDPD  X8, X4
	ADDPD  X9, X5
	ADDPD  X10, X6
	ADDPD  X11, X7
	ADDQ   $128, SI
	DECQ   CX
	JNZ    loop64

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
