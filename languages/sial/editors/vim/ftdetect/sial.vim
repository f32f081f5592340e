autocmd BufRead,BufNewFile *.sialx,*.sial setfiletype sial
