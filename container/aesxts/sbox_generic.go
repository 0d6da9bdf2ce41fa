package aesxts

// subBytes applies the AES S-box to 64 bytes held as bit planes: q[b] holds
// bit b of every byte. It is the straight-line program of J. Boyar and
// R. Peralta, "A new combinational logic minimization technique with
// applications to cryptology" (2010), whose names (x, y, t, z, s; bit 0 the
// most significant) are kept so that it can be compared with the paper.
func subBytes(q *[8]uint64) {
	x0, x1, x2, x3, x4, x5, x6, x7 := q[7], q[6], q[5], q[4], q[3], q[2], q[1], q[0]

	// Linear layer into the tower field.
	y14, y13, y9 := x3^x5, x0^x6, x0^x3
	y8, t0 := x0^x5, x1^x2
	y1 := t0 ^ x7
	y4, y12, y2 := y1^x3, y13^y14, y1^x0
	y5 := y1 ^ x6
	y3, t1 := y5^y8, x4^y12
	y15, y20 := t1^x5, t1^x1
	y6, y10, y11 := y15^x7, y15^t0, y20^y9
	y7, y17, y19 := x7^y11, y10^y11, y10^y8
	y16 := t0 ^ y11
	y21, y18 := y13^y16, x0^y16

	// Inversion.
	t2 := y12 & y15
	t4, t6, t7 := y3&y6^t2, y4&x7^t2, y13&y16
	t9, t11, t12 := y5&y1^t7, y2&y7^t7, y9&y11
	t14, t16 := y14&y17^t12, y8&y10^t12
	t21, t22, t23 := t4^t14^y20, t6^t16^y19, t9^t14^y21
	t24, t25, t26 := t11^t16^y18, t21^t22, t21&t23
	t27 := t24 ^ t26
	t29, t30, t31 := t25&t27^t22, t23^t24, t22^t26
	t33 := t31&t30 ^ t24
	t34, t35 := t23^t33, t27^t33
	t36 := t24 & t35
	t37, t38 := t36^t34, t27^t36
	t40 := t29&t38 ^ t25
	t41, t42, t43 := t40^t37, t29^t33, t29^t40
	t44, t45 := t33^t37, t42^t41
	z0, z1, z2 := t44&y15, t37&y6, t33&x7
	z3, z4, z5 := t43&y16, t40&y1, t29&y7
	z6, z7, z8 := t42&y11, t45&y17, t41&y10
	z9, z10, z11 := t44&y12, t37&y3, t33&y4
	z12, z13, z14 := t43&y13, t40&y5, t29&y2
	z15, z16, z17 := t42&y9, t45&y14, t41&y8

	// Linear layer back, with the affine map.
	t46, t47, t48 := z15^z16, z10^z11, z5^z13
	t49, t50, t51 := z9^z10, z2^z12, z2^z5
	t52, t53, t54 := z7^z8, z0^z3, z6^z7
	t55, t56, t57 := z16^z17, z12^t48, t50^t53
	t58, t59, t60 := z4^t46, z3^t54, t46^t57
	t61, t62, t63 := z14^t57, t52^t58, t49^t58
	t64, t65, t66 := z4^t59, t61^t62, z1^t63
	t67 := t64 ^ t65
	s3 := t53 ^ t66
	q[7], q[6], q[5], q[4] = t59^t63, t64^^s3, t55^^t67, s3
	q[3], q[2], q[1], q[0] = t51^t66, t47^t65, t56^^t62, t48^^t60
}

// invSubBytes applies the inverse S-box. The S-box is A(1/x), 0 to 0, with an
// affine A, so its inverse is B(S(B(x))) where B undoes A.
func invSubBytes(q *[8]uint64) {
	invAffine(q)
	subBytes(q)
	invAffine(q)
}

// invAffine: output bit i = bits i+2, i+5, i+7 (modulo 8) and a bit of 0x05
// (FIPS 197, section 5.3.2).
func invAffine(q *[8]uint64) {
	q0, q1, q2, q3, q4, q5, q6, q7 := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	q[0] = ^(q2 ^ q5 ^ q7)
	q[1] = q3 ^ q6 ^ q0
	q[2] = ^(q4 ^ q7 ^ q1)
	q[3] = q5 ^ q0 ^ q2
	q[4] = q6 ^ q1 ^ q3
	q[5] = q7 ^ q2 ^ q4
	q[6] = q0 ^ q3 ^ q5
	q[7] = q1 ^ q4 ^ q6
}
