declare const brand: unique symbol;

/** A `Base` that the compiler will not confuse with another one. Made only by parsers, row mappers and smart constructors. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
