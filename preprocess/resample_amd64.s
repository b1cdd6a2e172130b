#include "textflag.h"

// Sums start with one half in fixed point and end by a shift, as in lanes: half and
// precisionBits of resample.go and coefficients.go.
#define half $(1<<21)
#define precisionBits $22

// func filterAVX2(upper, lower, upperRGB, lowerRGB *byte, start, count *int, weight *int64, size, n, lo int)
TEXT ·filterAVX2(SB), NOSPLIT, $0-80
	MOVQ upper+0(FP), DI
	MOVQ lower+8(FP), SI
	MOVQ upperRGB+16(FP), R8
	MOVQ lowerRGB+24(FP), R9
	MOVQ start+32(FP), R10
	MOVQ count+40(FP), R11
	MOVQ weight+48(FP), R12
	MOVQ size+56(FP), R13
	MOVQ n+64(FP), CX
	MOVL half, AX
	MOVQ AX, X0
	VPBROADCASTD X0, X8
	MOVL $255, AX
	MOVQ AX, X0
	VPBROADCASTD X0, X9
	VPXOR X10, X10, X10

pixel:
	MOVQ (R10), AX
	SUBQ lo+72(FP), AX
	LEAQ (AX)(AX*2), AX // three bytes a pixel
	MOVQ (R11), DX
	MOVQ R12, BX
	VMOVDQU X8, X0
	VMOVDQU X8, X1

tap:
	VPBROADCASTD (BX), X2 // the low half of an int64
	VPMOVZXBD (R8)(AX*1), X3 // red, green, blue, and the red of the next pixel
	VPMOVZXBD (R9)(AX*1), X4
	VPMULLD X2, X3, X3
	VPMULLD X2, X4, X4
	VPADDD X3, X0, X0
	VPADDD X4, X1, X1
	ADDQ $8, BX
	ADDQ $3, AX
	DECQ DX
	JNZ tap

	VPSRAD precisionBits, X0, X0
	VPSRAD precisionBits, X1, X1
	VPMAXSD X10, X0, X0
	VPMAXSD X10, X1, X1
	VPMINSD X9, X0, X0
	VPMINSD X9, X1, X1
	VMOVDQU X0, (DI)
	VMOVDQU X1, (SI)
	ADDQ $12, DI // so that the next pixel overwrites the fourth word
	ADDQ $12, SI
	ADDQ $8, R10
	ADDQ $8, R11
	LEAQ (R12)(R13*8), R12
	DECQ CX
	JNZ pixel
	RET

// func combineAVX2(out, ring *byte, groups int, offset *int, weight *int64, count int)
TEXT ·combineAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ ring+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ offset+24(FP), R8
	MOVQ weight+32(FP), R9
	MOVQ count+40(FP), R10
	MOVL half, AX
	MOVQ AX, X0
	VPBROADCASTD X0, Y8

group: // of eight samples
	VMOVDQU Y8, Y0
	XORQ BX, BX

row:
	MOVQ (R8)(BX*8), AX
	VPBROADCASTD (R9)(BX*8), Y1
	VPMULLD (SI)(AX*1), Y1, Y1
	VPADDD Y1, Y0, Y0
	INCQ BX
	CMPQ BX, R10
	JLT row

	VPSRAD precisionBits, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKUSDW X1, X0, X0
	VPACKUSWB X0, X0, X0
	VMOVQ X0, (DI)
	ADDQ $8, DI
	ADDQ $32, SI
	DECQ CX
	JNZ group
	VZEROUPPER
	RET
