package obj

import "encoding/binary"

// featureGCS says that code gives back the return addresses that a processor keeps on a second stack in their order
// (GNU_PROPERTY_AARCH64_FEATURE_1_GCS).
const featureGCS = 4

// MarkGCS adds the note by which a dynamic linker knows that the code may run where the processor keeps a second stack of
// return addresses, the guarded control stack. One object without it, and no program that loads it has such a stack, or
// it is not started at all.
func (o *Object) MarkGCS() {
	const noteProperty, feature1And = 5, 0xc0000000
	var note []byte
	for _, w := range []uint32{4, 16, noteProperty, 'G' | 'N'<<8 | 'U'<<16, feature1And, 4, featureGCS, 0} {
		note = binary.LittleEndian.AppendUint32(note, w)
	}
	o.AddData("gnu_property", ".note.gnu.property", 8, note, nil, Local)
}
