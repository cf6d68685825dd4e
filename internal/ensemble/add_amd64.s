#include "textflag.h"

// Blends leaves in made what it is where the mask at an offset is 0, and X9 elsewhere.
#define BLEND(at, made) \
	MOVUPS at(R13), X10 \
	MOVAPS X10, X14     \
	ANDPS  X9, X10      \
	ANDNPS made, X14    \
	ORPS   X14, X10     \
	MOVAPS X10, made

// Adds to four registers, TO and so on, what the places from R8 on of one term say in
// the lanes from at/4 on.
#define HALF(at, loop, end, T0, T1, T2, T3) \
	MOVSS   8(R8), X8          \
	SHUFPS  $0, X8, X8         \
	MOVAPS  X8, X11            \
	MOVAPS  X8, X12            \
	MOVAPS  X8, X13            \
loop:                              \
	MOVSS   12(R8), X9         \
	SHUFPS  $0, X9, X9         \
	MOVLQSX 4(R8), BX          \
	NEGQ    BX                 \
	LEAQ    at(R14)(BX*4), R13 \
	BLEND(0, X8)               \
	BLEND(16, X11)             \
	BLEND(32, X12)             \
	BLEND(48, X13)             \
	ADDQ    $16, R8            \
	DECQ    R9                 \
	JZ      end                \
	CMPL    AX, (R8)           \ // once more for the same term
	JEQ     loop               \
end:                               \
	ADDPS   X8, T0             \
	ADDPS   X11, T1            \
	ADDPS   X12, T2            \
	ADDPS   X13, T3

// func add32(sums *float32, wide bool, terms []float32, places []laneChange[float32], masks *[2 * laneCount]uint32)
//
// Sixteen sums, or thirty-two, stay in the registers X0 to X7. A term is copied to all
// places of another and added to each; ADDPS rounds as ADDSS does. Where a place says
// that a term differs, X8 and X11 to X13 are what it is, made by masks: ones from the
// place's lane on.
TEXT ·add32(SB), NOSPLIT, $0-72
	MOVQ    sums+0(FP), DI
	MOVBLZX wide+8(FP), R10
	MOVQ    terms_base+16(FP), SI
	MOVQ    terms_len+24(FP), CX
	MOVQ    places_base+40(FP), R8
	MOVQ    places_len+48(FP), R9
	MOVQ    masks+64(FP), R14
	LEAQ    (SI)(CX*4), R11        // the end of terms
	MOVQ    SI, R12                // their beginning
	MOVUPS  (DI), X0
	MOVUPS  16(DI), X1
	MOVUPS  32(DI), X2
	MOVUPS  48(DI), X3
	TESTQ   R10, R10
	JZ      run32
	MOVUPS  64(DI), X4
	MOVUPS  80(DI), X5
	MOVUPS  96(DI), X6
	MOVUPS  112(DI), X7

run32:
	// Terms up to DX are alike in all sums.
	MOVQ    R11, DX
	TESTQ   R9, R9
	JZ      next32
	MOVLQSX (R8), AX
	LEAQ    (R12)(AX*4), DX

next32:
	TESTQ R10, R10
	JNZ   wide32
	JMP   narrow32

loop32:
	MOVSS  (SI), X8
	SHUFPS $0, X8, X8
	ADDPS  X8, X0
	ADDPS  X8, X1
	ADDPS  X8, X2
	ADDPS  X8, X3
	ADDQ   $4, SI

narrow32:
	CMPQ SI, DX
	JB   loop32
	JMP  places32

loopwide32:
	MOVSS  (SI), X8
	SHUFPS $0, X8, X8
	ADDPS  X8, X0
	ADDPS  X8, X1
	ADDPS  X8, X2
	ADDPS  X8, X3
	ADDPS  X8, X4
	ADDPS  X8, X5
	ADDPS  X8, X6
	ADDPS  X8, X7
	ADDQ   $4, SI

wide32:
	CMPQ SI, DX
	JB   loopwide32

places32:
	TESTQ R9, R9
	JZ    done32
	MOVQ  R8, CX // the first place of the term, and how many are left
	MOVQ  R9, DX
	HALF(128, low32, lowend32, X0, X1, X2, X3)
	ADDQ  $4, SI
	TESTQ R10, R10
	JZ    run32
	MOVQ  CX, R8
	MOVQ  DX, R9
	HALF(192, high32, highend32, X4, X5, X6, X7)
	JMP   run32

done32:
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	MOVUPS X2, 32(DI)
	MOVUPS X3, 48(DI)
	TESTQ  R10, R10
	JZ     return32
	MOVUPS X4, 64(DI)
	MOVUPS X5, 80(DI)
	MOVUPS X6, 96(DI)
	MOVUPS X7, 112(DI)

return32:
	RET

// func add64(sums *float64, terms []float64, places []laneChange[float64], lane int, masks *[2 * laneCount]uint64)
//
// The same for eight sums of float64 from a lane on.
TEXT ·add64(SB), NOSPLIT, $0-72
	MOVQ   sums+0(FP), DI
	MOVQ   terms_base+8(FP), SI
	MOVQ   terms_len+16(FP), CX
	MOVQ   places_base+32(FP), R8
	MOVQ   places_len+40(FP), R9
	MOVQ   lane+56(FP), R10
	MOVQ   masks+64(FP), R14
	LEAQ   (DI)(R10*8), DI
	LEAQ   (SI)(CX*8), R11
	MOVQ   SI, R12
	MOVUPD (DI), X0
	MOVUPD 16(DI), X1
	MOVUPD 32(DI), X2
	MOVUPD 48(DI), X3

run64:
	MOVQ    R11, DX
	TESTQ   R9, R9
	JZ      next64
	MOVLQSX (R8), AX
	LEAQ    (R12)(AX*8), DX
	JMP     next64

loop64:
	MOVSD    (SI), X4
	UNPCKLPD X4, X4
	ADDPD    X4, X0
	ADDPD    X4, X1
	ADDPD    X4, X2
	ADDPD    X4, X3
	ADDQ     $8, SI

next64:
	CMPQ     SI, DX
	JB       loop64
	TESTQ    R9, R9
	JZ       done64
	MOVSD    8(R8), X4
	UNPCKLPD X4, X4
	MOVAPD   X4, X5
	MOVAPD   X4, X6
	MOVAPD   X4, X7

place64:
	MOVSD    16(R8), X9
	UNPCKLPD X9, X9
	MOVLQSX  4(R8), BX
	SUBQ     R10, BX
	NEGQ     BX
	LEAQ     256(R14)(BX*8), R13
	BLEND(0, X4)
	BLEND(16, X5)
	BLEND(32, X6)
	BLEND(48, X7)
	ADDQ     $24, R8
	DECQ     R9
	JZ       add64
	CMPL     AX, (R8)
	JEQ      place64

add64:
	ADDPD X4, X0
	ADDPD X5, X1
	ADDPD X6, X2
	ADDPD X7, X3
	ADDQ  $8, SI
	JMP   run64

done64:
	MOVUPD X0, (DI)
	MOVUPD X1, 16(DI)
	MOVUPD X2, 32(DI)
	MOVUPD X3, 48(DI)
	RET
