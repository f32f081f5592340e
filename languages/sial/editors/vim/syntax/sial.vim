" Vim syntax file
" Language: SIAL, Tessera's language of loops over blocks
if exists("b:current_syntax")
  finish
endif

syntax case ignore
syntax keyword sialStructure sial endsial import proc endproc call return stop exit cycle if else endif do enddo in
syntax keyword sialStructure pardo endpardo where section endsection gpu_on gpu_off
syntax keyword sialDeclaration index aoindex moindex moaindex mobindex laindex subindex of int scalar static temp local
syntax keyword sialDeclaration distributed served predefined contiguous sparse special
syntax keyword sialInstruction execute get put prepare request prequest create delete destroy allocate deallocate
syntax keyword sialInstruction collective broadcast_from assert_same server_barrier sip_barrier set_persistent
syntax keyword sialInstruction restore_persistent print println print_index print_scalar print_int gpu_allocate gpu_free
syntax keyword sialInstruction gpu_put gpu_get
syntax keyword sialFunction sqrt
syntax match sialNumber "\v<\d+(\.\d*)?|\.\d+"
syntax match sialOperator "\v\*\*|[-+*/^]\=?|[=!<>]\=|[<>=]"
syntax region sialText start=+"+ end=+"+ oneline
syntax match sialComment "#.*$"

highlight default link sialStructure Statement
highlight default link sialDeclaration Type
highlight default link sialInstruction Keyword
highlight default link sialFunction Function
highlight default link sialNumber Number
highlight default link sialOperator Operator
highlight default link sialText String
highlight default link sialComment Comment

let b:current_syntax = "sial"
