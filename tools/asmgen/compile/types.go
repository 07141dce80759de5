package compile

import "go/types"

// sizes are the layout rules of the target.
var sizes = types.SizesFor("gc", "arm64")

// maxScalars is how many scalars a struct or array value may have to live in registers; a bigger one lives in
// memory.
const maxScalars = 16

// kind is the type of a scalar.
type kind struct {
	size   uint8 // in bytes: 1, 2, 4 or 8
	signed bool
	ptr    bool
	bool   bool
	length bool // the length or capacity of a slice or string: never negative
}

// w is the width of the register that holds a scalar of the kind: 32 or 64.
func (k kind) w() uint8 {
	if k.size == 8 {
		return 64
	}
	return 32
}

var (
	kindPtr  = kind{size: 8, ptr: true}
	kindLen  = kind{size: 8, signed: true, length: true}
	kindBool = kind{size: 1, bool: true}
)

// leaf is one scalar of a flattened type.
type leaf struct {
	off int64
	kind
}

func basicKind(b *types.Basic) (kind, bool) {
	switch b.Kind() {
	case types.Bool, types.UntypedBool:
		return kindBool, true
	case types.Uint8:
		return kind{size: 1}, true
	case types.Int8:
		return kind{size: 1, signed: true}, true
	case types.Uint16:
		return kind{size: 2}, true
	case types.Int16:
		return kind{size: 2, signed: true}, true
	case types.Uint32:
		return kind{size: 4}, true
	case types.Int32, types.UntypedRune:
		return kind{size: 4, signed: true}, true
	case types.Int, types.Int64, types.UntypedInt:
		return kind{size: 8, signed: true}, true
	case types.Uint, types.Uint64, types.Uintptr:
		return kind{size: 8}, true
	case types.UnsafePointer, types.UntypedNil:
		return kindPtr, true
	}
	return kind{}, false
}

// leaves flattens t. It stops after limit scalars: a longer result means "more than limit".
func leaves(t types.Type, limit int) []leaf { return appendLeaves(nil, t, 0, limit) }

func appendLeaves(out []leaf, t types.Type, off int64, limit int) []leaf {
	if len(out) > limit {
		return out
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return append(out, leaf{off, kindPtr}, leaf{off + 8, kindLen})
		}
		if k, ok := basicKind(t); ok {
			return append(out, leaf{off, k})
		}
	case *types.Pointer:
		return append(out, leaf{off, kindPtr})
	case *types.Slice:
		return append(out, leaf{off, kindPtr}, leaf{off + 8, kindLen}, leaf{off + 16, kindLen})
	case *types.Struct:
		offs := sizes.Offsetsof(structFields(t))
		for i := range t.NumFields() {
			out = appendLeaves(out, t.Field(i).Type(), off+offs[i], limit)
		}
		return out
	case *types.Array:
		es := sizes.Sizeof(t.Elem())
		for i := range t.Len() {
			out = appendLeaves(out, t.Elem(), off+i*es, limit)
			if len(out) > limit {
				break
			}
		}
		return out
	case *types.Tuple:
		for i := range t.Len() {
			out = appendLeaves(out, t.At(i).Type(), 0, limit)
		}
		return out
	}
	return out
}

func structFields(t *types.Struct) []*types.Var {
	f := make([]*types.Var, t.NumFields())
	for i := range f {
		f[i] = t.Field(i)
	}
	return f
}

func fieldOffset(t *types.Struct, i int) int64 { return sizes.Offsetsof(structFields(t))[i] }

// isBig says whether values of t live in memory.
func isBig(t types.Type) bool { return len(leaves(t, maxScalars)) > maxScalars }

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// scalarKind is the kind of a type that flattens to one scalar.
func scalarKind(t types.Type) (kind, bool) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicKind(u)
	case *types.Pointer:
		return kindPtr, true
	}
	return kind{}, false
}

// outside names what makes t no type of the subset, or returns "".
func outside(t types.Type) string { return outsideType(t, map[types.Type]bool{}) }

func outsideType(t types.Type, seen map[types.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsFloat != 0:
			return "floating-point numbers are outside the subset"
		case u.Info()&types.IsComplex != 0:
			return "complex numbers are outside the subset"
		}
	case *types.Map:
		return "maps are outside the subset"
	case *types.Chan:
		return "channels are outside the subset"
	case *types.Interface:
		return "interfaces are outside the subset"
	case *types.Signature:
		return "function values are outside the subset"
	case *types.Pointer:
		return outsideType(u.Elem(), seen)
	case *types.Slice:
		return outsideType(u.Elem(), seen)
	case *types.Array:
		return outsideType(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if why := outsideType(u.Field(i).Type(), seen); why != "" {
				return why + " (field " + u.Field(i).Name() + ")"
			}
		}
	case *types.Tuple:
		for i := range u.Len() {
			if why := outsideType(u.At(i).Type(), seen); why != "" {
				return why
			}
		}
	}
	return ""
}
