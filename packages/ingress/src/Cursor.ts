/**
 * Cursor: where a reader goes on. Opaque to clients: they keep it, and send it back.
 *
 *   base64url(backend " " place)     in a stream, the place is the number of lines before it; in a list, the last name
 *
 * A cursor belongs to the store that gave it. Another one (a database that was swapped, or built anew) does not know the
 * place: it says so, and the reader starts from the beginning.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"

/**
 * The cursor for a place, of the store with this id.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (backend: string, place: string | number): string => Base64Url.encode(`${backend} ${place}`)

/**
 * The place that a cursor of this store names; undefined for every other text.
 *
 * @category combinators
 * @since 0.1.0
 */
export const placeOf = (backend: string, cursor: string): string | undefined => {
  const text = Result.getOrUndefined(Base64Url.decodeString(cursor))
  return text?.startsWith(`${backend} `) === true ? text.slice(backend.length + 1) : undefined
}

/**
 * The number of lines before the place that a cursor of this store names; undefined for every other text.
 *
 * @category combinators
 * @since 0.1.0
 */
export const seqOf = (backend: string, cursor: string): number | undefined => {
  const place = placeOf(backend, cursor)
  return place !== undefined && /^\d{1,15}$/.test(place) ? Number(place) : undefined
}
