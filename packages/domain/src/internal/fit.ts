/**
 * The parts of an object that fit the fields of its kind (FORMAT §9, 4).
 *
 *   { a: 1, b: "x", c: [1, "y"] }   against   { a?: string, b?: string, c?: string[] }   gives   { b: "x", c: ["y"] }
 *
 * 1. What fits is the value that was read; only what holds something that does not fit is copied.
 * 2. A record that lacks a key without which it means nothing is left out as a whole.
 * 3. What does not fit is named by its path: `a`, `c[]`, `message.role`, `snapshot.trackedFileBackups.*.version`.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { isObject, type JsonObject } from "./wire.ts"

type Fields = { readonly [key: string]: Schema.Top }

/** What a schema is made of, as far as a value can fit it in parts. */
interface Shape {
  readonly schema?: Schema.Top
  readonly members?: ReadonlyArray<Schema.Top>
  readonly fields?: Fields
  readonly key?: unknown
  readonly value?: Schema.Top
}

/** What an entry promises and a value may lack; every other key of an entry is optional. */
const neutrals: { readonly [key: string]: () => unknown } = {
  uuid: () => "",
  message: () => ({ content: [] }),
  content: () => []
}

/** The view of an entry that does not fit the fields of its kind, and the paths at which it does not. */
export const fit = (
  value: JsonObject,
  fields: Fields
): { readonly view: JsonObject; readonly illFormed: ReadonlyArray<string> } => {
  const illFormed: Array<string> = []
  return { view: fitFields(value, fields, "", illFormed) ?? value, illFormed }
}

/** Keeps the keys that fit; undefined where a key is missing without which the object means nothing. */
const fitFields = (
  value: JsonObject,
  fields: Fields,
  path: string,
  illFormed: Array<string>
): JsonObject | undefined => {
  const view: { [key: string]: unknown } = { ...value }
  for (const [key, field] of Object.entries(fields)) {
    const isOptional = SchemaAST.isOptional(field.ast)
    if (isOptional && !Object.hasOwn(value, key)) continue
    const part = fitValue(Object.hasOwn(value, key) ? value[key] : undefined, field, path + key, illFormed)
    const neutral = neutrals[key]
    if (part !== undefined) view[key] = part
    else if (isOptional) delete view[key]
    else if (neutral === undefined) return undefined
    else view[key] = neutral()
  }
  return view
}

/** The value, or a copy without what does not fit, or undefined; no JSON value is undefined. */
const fitValue = (value: unknown, schema: Schema.Top, path: string, illFormed: Array<string>): unknown => {
  if (value !== undefined && checkOf(schema)(value)) return value
  for (const { fields, key, value: member } of shapes(schema)) {
    if (fields !== undefined && isObject(value)) return fitFields(value, fields, `${path}.`, illFormed)
    if (member === undefined) continue
    if (key !== undefined && isObject(value)) return fitRecord(value, member, `${path}.*`, illFormed)
    if (key === undefined && Array.isArray(value)) {
      return value.map((one) => fitValue(one, member, `${path}[]`, illFormed)).filter((one) => one !== undefined)
    }
  }
  if (!illFormed.includes(path)) illFormed.push(path)
  return undefined
}

const fitRecord = (value: JsonObject, member: Schema.Top, path: string, illFormed: Array<string>): JsonObject => {
  const view: { [key: string]: unknown } = { ...value }
  for (const key of Object.keys(value)) {
    const part = fitValue(value[key], member, path, illFormed)
    if (part === undefined) delete view[key]
    else view[key] = part
  }
  return view
}

const shapes = (schema: Schema.Top): ReadonlyArray<Shape> => {
  const shape = schema as unknown as Shape
  return shape.schema !== undefined ? shapes(shape.schema) : (shape.members?.flatMap(shapes) ?? [shape])
}

const fieldChecks = new WeakMap<Schema.Top, (value: unknown) => boolean>()

const checkOf = (field: Schema.Top): ((value: unknown) => boolean) => {
  let check = fieldChecks.get(field)
  if (check === undefined) fieldChecks.set(field, (check = Schema.is(field as Schema.Schema<unknown>)))
  return check
}
