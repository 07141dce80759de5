/*
 * The gate: loads every register from a table, enters a site by a plain branch, and when the branch that was planted
 * after the site comes back stores every register. It is copied to a page near the C library, with its tables 64 KiB
 * behind it; the offsets are those of struct gate in abi.h.
 */
	.arch armv8.2-a+sve
	.equ TABLES, 0x10000
	.equ IN, 0
	.equ OUT, 0x400
	.equ VREGS, 304
	.equ FLAGS, 0x808
	.equ ZIN, 0x1000
	.equ ZOUT, 0x4000

	.text
	.balign 16
	.globl abi_gate, abi_gate_jump, abi_gate_svc, abi_gate_back, abi_gate_end
abi_gate:
	sub	sp, sp, #176
	stp	x29, x30, [sp]
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	adr	x9, abi_gate + TABLES
	mov	x10, sp
	str	x10, [x9, #0x800]
	mrs	x10, fpcr
	mrs	x11, fpsr
	str	x10, [x9, #0x810]
	str	x11, [x9, #0x818]
	ldr	x11, [x9, #FLAGS]
	tbz	x11, #1, 1f
	.inst	0xd503437f		// smstart sm
1:	add	x10, x9, #VREGS
	ldp	q0, q1, [x10, #0]
	ldp	q2, q3, [x10, #32]
	ldp	q4, q5, [x10, #64]
	ldp	q6, q7, [x10, #96]
	ldp	q8, q9, [x10, #128]
	ldp	q10, q11, [x10, #160]
	ldp	q12, q13, [x10, #192]
	ldp	q14, q15, [x10, #224]
	ldp	q16, q17, [x10, #256]
	ldp	q18, q19, [x10, #288]
	ldp	q20, q21, [x10, #320]
	ldp	q22, q23, [x10, #352]
	ldp	q24, q25, [x10, #384]
	ldp	q26, q27, [x10, #416]
	ldp	q28, q29, [x10, #448]
	ldp	q30, q31, [x10, #480]
	tbz	x11, #0, 2f
	add	x10, x9, #ZIN
	ldr	z0, [x10, #0, mul vl]
	ldr	z1, [x10, #1, mul vl]
	ldr	z2, [x10, #2, mul vl]
	ldr	z3, [x10, #3, mul vl]
	ldr	z4, [x10, #4, mul vl]
	ldr	z5, [x10, #5, mul vl]
	ldr	z6, [x10, #6, mul vl]
	ldr	z7, [x10, #7, mul vl]
	ldr	z8, [x10, #8, mul vl]
	ldr	z9, [x10, #9, mul vl]
	ldr	z10, [x10, #10, mul vl]
	ldr	z11, [x10, #11, mul vl]
	ldr	z12, [x10, #12, mul vl]
	ldr	z13, [x10, #13, mul vl]
	ldr	z14, [x10, #14, mul vl]
	ldr	z15, [x10, #15, mul vl]
	ldr	z16, [x10, #16, mul vl]
	ldr	z17, [x10, #17, mul vl]
	ldr	z18, [x10, #18, mul vl]
	ldr	z19, [x10, #19, mul vl]
	ldr	z20, [x10, #20, mul vl]
	ldr	z21, [x10, #21, mul vl]
	ldr	z22, [x10, #22, mul vl]
	ldr	z23, [x10, #23, mul vl]
	ldr	z24, [x10, #24, mul vl]
	ldr	z25, [x10, #25, mul vl]
	ldr	z26, [x10, #26, mul vl]
	ldr	z27, [x10, #27, mul vl]
	ldr	z28, [x10, #28, mul vl]
	ldr	z29, [x10, #29, mul vl]
	ldr	z30, [x10, #30, mul vl]
	ldr	z31, [x10, #31, mul vl]
	add	x10, x10, #0x2000
	ldr	p0, [x10, #0, mul vl]
	ldr	p1, [x10, #1, mul vl]
	ldr	p2, [x10, #2, mul vl]
	ldr	p3, [x10, #3, mul vl]
	ldr	p4, [x10, #4, mul vl]
	ldr	p5, [x10, #5, mul vl]
	ldr	p6, [x10, #6, mul vl]
	ldr	p7, [x10, #7, mul vl]
	ldr	p8, [x10, #8, mul vl]
	ldr	p9, [x10, #9, mul vl]
	ldr	p10, [x10, #10, mul vl]
	ldr	p11, [x10, #11, mul vl]
	ldr	p12, [x10, #12, mul vl]
	ldr	p13, [x10, #13, mul vl]
	ldr	p14, [x10, #14, mul vl]
	ldr	p15, [x10, #15, mul vl]
2:	ldp	x10, x11, [x9, #264]
	msr	fpcr, x10
	msr	fpsr, x11
	ldp	x10, x11, [x9, #248]
	mov	sp, x10
	msr	nzcv, x11
	ldp	x0, x1, [x9]
	ldp	x2, x3, [x9, #16]
	ldp	x4, x5, [x9, #32]
	ldp	x6, x7, [x9, #48]
	ldr	x8, [x9, #64]
	ldp	x10, x11, [x9, #80]
	ldp	x12, x13, [x9, #96]
	ldp	x14, x15, [x9, #112]
	ldp	x16, x17, [x9, #128]
	ldp	x18, x19, [x9, #144]
	ldp	x20, x21, [x9, #160]
	ldp	x22, x23, [x9, #176]
	ldp	x24, x25, [x9, #192]
	ldp	x26, x27, [x9, #208]
	ldp	x28, x29, [x9, #224]
	ldr	x30, [x9, #240]
	ldr	x9, [x9, #72]
abi_gate_jump:
	nop				// b site
abi_gate_svc:
	svc	#0
abi_gate_back:
	stp	x0, x1, [sp]		// above sp: the table says that this is ours
	adr	x0, abi_gate + TABLES + OUT
	stp	x2, x3, [x0, #16]
	stp	x4, x5, [x0, #32]
	stp	x6, x7, [x0, #48]
	stp	x8, x9, [x0, #64]
	stp	x10, x11, [x0, #80]
	stp	x12, x13, [x0, #96]
	stp	x14, x15, [x0, #112]
	stp	x16, x17, [x0, #128]
	stp	x18, x19, [x0, #144]
	stp	x20, x21, [x0, #160]
	stp	x22, x23, [x0, #176]
	stp	x24, x25, [x0, #192]
	stp	x26, x27, [x0, #208]
	stp	x28, x29, [x0, #224]
	str	x30, [x0, #240]
	ldp	x2, x3, [sp]
	stp	x2, x3, [x0]
	mov	x2, sp
	mrs	x3, nzcv
	stp	x2, x3, [x0, #248]
	mrs	x2, fpcr
	mrs	x3, fpsr
	stp	x2, x3, [x0, #264]
	mrs	x2, tpidr_el0
	str	x2, [x0, #280]
	add	x3, x0, #VREGS
	stp	q0, q1, [x3, #0]
	stp	q2, q3, [x3, #32]
	stp	q4, q5, [x3, #64]
	stp	q6, q7, [x3, #96]
	stp	q8, q9, [x3, #128]
	stp	q10, q11, [x3, #160]
	stp	q12, q13, [x3, #192]
	stp	q14, q15, [x3, #224]
	stp	q16, q17, [x3, #256]
	stp	q18, q19, [x3, #288]
	stp	q20, q21, [x3, #320]
	stp	q22, q23, [x3, #352]
	stp	q24, q25, [x3, #384]
	stp	q26, q27, [x3, #416]
	stp	q28, q29, [x3, #448]
	stp	q30, q31, [x3, #480]
	ldr	x4, [x0, #(FLAGS - OUT)]
	tbz	x4, #3, 3f
	mrs	x2, s3_3_c4_c2_2	// svcr
	str	x2, [x0, #288]
	mrs	x2, s3_3_c13_c0_5	// tpidr2_el0
	str	x2, [x0, #296]
3:	tbz	x4, #0, 4f
	add	x3, x0, #(ZOUT - OUT) & 0xfff000
	add	x3, x3, #(ZOUT - OUT) & 0xfff
	str	z0, [x3, #0, mul vl]
	str	z1, [x3, #1, mul vl]
	str	z2, [x3, #2, mul vl]
	str	z3, [x3, #3, mul vl]
	str	z4, [x3, #4, mul vl]
	str	z5, [x3, #5, mul vl]
	str	z6, [x3, #6, mul vl]
	str	z7, [x3, #7, mul vl]
	str	z8, [x3, #8, mul vl]
	str	z9, [x3, #9, mul vl]
	str	z10, [x3, #10, mul vl]
	str	z11, [x3, #11, mul vl]
	str	z12, [x3, #12, mul vl]
	str	z13, [x3, #13, mul vl]
	str	z14, [x3, #14, mul vl]
	str	z15, [x3, #15, mul vl]
	str	z16, [x3, #16, mul vl]
	str	z17, [x3, #17, mul vl]
	str	z18, [x3, #18, mul vl]
	str	z19, [x3, #19, mul vl]
	str	z20, [x3, #20, mul vl]
	str	z21, [x3, #21, mul vl]
	str	z22, [x3, #22, mul vl]
	str	z23, [x3, #23, mul vl]
	str	z24, [x3, #24, mul vl]
	str	z25, [x3, #25, mul vl]
	str	z26, [x3, #26, mul vl]
	str	z27, [x3, #27, mul vl]
	str	z28, [x3, #28, mul vl]
	str	z29, [x3, #29, mul vl]
	str	z30, [x3, #30, mul vl]
	str	z31, [x3, #31, mul vl]
	add	x3, x3, #0x2000
	str	p0, [x3, #0, mul vl]
	str	p1, [x3, #1, mul vl]
	str	p2, [x3, #2, mul vl]
	str	p3, [x3, #3, mul vl]
	str	p4, [x3, #4, mul vl]
	str	p5, [x3, #5, mul vl]
	str	p6, [x3, #6, mul vl]
	str	p7, [x3, #7, mul vl]
	str	p8, [x3, #8, mul vl]
	str	p9, [x3, #9, mul vl]
	str	p10, [x3, #10, mul vl]
	str	p11, [x3, #11, mul vl]
	str	p12, [x3, #12, mul vl]
	str	p13, [x3, #13, mul vl]
	str	p14, [x3, #14, mul vl]
	str	p15, [x3, #15, mul vl]
4:	tbz	x4, #1, 5f
	.inst	0xd503427f		// smstop sm
5:	sub	x9, x0, #OUT
	ldr	x10, [x9, #0x810]
	ldr	x11, [x9, #0x818]
	msr	fpcr, x10
	msr	fpsr, x11
	ldr	x10, [x9, #0x800]
	mov	sp, x10
	ldp	x29, x30, [sp]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	add	sp, sp, #176
	ret
abi_gate_end:

	.section .note.GNU-stack, "", %progbits
