declare const brand: unique symbol;

/**
 * A `Base` that the compiler does not confuse with other values of the same type, such as an app id with an account id.
 * Only parsers, row mappers and smart constructors make one.
 */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
