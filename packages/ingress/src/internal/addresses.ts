/**
 * Addresses: which URLs a client talks to, and in which order.
 */
import * as Result from "effect/Result"
import * as Wire from "../Wire.ts"

/** A URL that is not talked to, and why not. */
export interface BadAddress {
  readonly url: string
  readonly found: string
}

/** The base of each URL, without the path of the protocol and without a `/` at its end. */
export const read = (
  urls: ReadonlyArray<string>,
  allowPlain: boolean
): Result.Result<ReadonlyArray<string>, BadAddress> =>
  urls.length === 0
    ? Result.fail({ url: "", found: "no address at all" })
    : Result.all(urls.map((url) => one(url, allowPlain)))

const one = (text: string, allowPlain: boolean): Result.Result<string, BadAddress> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const bad = (found: string) => Result.fail({ url: text, found })
  if (url === undefined || !/^https?:$/.test(url.protocol)) return bad("no URL of HTTP")
  if (url.username !== "" || url.password !== "") return bad("a password in it; give the token as a token")
  if (url.protocol === "http:" && !allowPlain && !isLoopback(url.hostname)) {
    return bad("http, which anybody on the way can read. Take https, or allow plain HTTP")
  }
  const [base = ""] = url.pathname.split(Wire.base)
  return Result.succeed(`${url.origin}${base.replace(/\/+$/, "")}`)
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/** The address in use, which changes when it does not answer. */
export const rotation = <A>(addresses: ReadonlyArray<A>) => {
  let at = 0
  return {
    count: addresses.length,
    current: (): A => addresses[at % addresses.length]!,
    /** Away from an address that did not answer; another request may have left it already. */
    leave: (address: A): void => {
      if (addresses[at % addresses.length] === address) at++
    }
  }
}
