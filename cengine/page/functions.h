/* What the page's module takes from the page: JavaScript's own functions. */
#ifndef SK_FUNCTIONS_H
#define SK_FUNCTIONS_H

__attribute__((import_module("script"), import_name("exp"))) double script_exp(double x);
__attribute__((import_module("script"), import_name("pow"))) double script_pow(double x, double y);

#endif
