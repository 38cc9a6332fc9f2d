/**
 * The field types that all wire schemas are made of.
 *
 * FORMAT §9: keys come and go between versions, values of a key rarely change their JSON type. So a field is "absent,
 * or of this JSON type", and nothing narrower.
 */
import * as Schema from "effect/Schema"

/** A key that may be absent and holds a string. */
export const text = Schema.optionalKey(Schema.String)

/** A key that may be absent and holds strings. */
export const texts = Schema.optionalKey(Schema.Array(Schema.String))

/** A key that may be absent and holds a boolean. */
export const flag = Schema.optionalKey(Schema.Boolean)

/** A key that may be absent and holds a number: a count, milliseconds, a status. */
export const count = Schema.optionalKey(Schema.Number)

/** A key that may be absent and holds any value. */
export const any = Schema.optionalKey(Schema.Unknown)

/** A key that may be absent and holds an array of any values. */
export const list = Schema.optionalKey(Schema.Array(Schema.Unknown))

/** A key that may be absent or null, else fits `schema`. */
export const nullable = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The same field under each of the keys. */
export const each = <F, const K extends string>(field: F, ...keys: ReadonlyArray<K>) =>
  Object.fromEntries(keys.map((key) => [key, field])) as { readonly [P in K]: F }

/**
 * A struct with further keys that may hold anything. Any value fits those, so they are in the type alone and are not
 * checked: that halves the time on the entries that a log is full of.
 */
export const open = <F extends Schema.Struct.Fields, U extends { readonly [key: string]: typeof any }>(
  fields: F,
  _unchecked: U
) => Schema.Struct(fields) as unknown as Schema.Struct<F & U>

/** A JSON object of any keys. */
export interface JsonObject {
  readonly [key: string]: unknown
}

/** Is it a JSON object, and no array? */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
