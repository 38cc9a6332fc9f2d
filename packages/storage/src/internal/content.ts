/**
 * Content: whether two entries of one id say the same. What a stamp sets (parent, time, directory, …) may differ, and the
 * order of keys.
 */
import * as Entry from "@reprise/domain/Entry"
import { hash } from "node:crypto"
import * as Stamp from "./stamp.ts"

/** Equal for entries of equal content. */
export const digest = (entry: Entry.Known | Entry.Unknown): string => {
  const from = Entry.original(entry) as { readonly [key: string]: unknown }
  const own = Object.fromEntries(Object.entries(from).filter(([key]) => !fromStamp(key)))
  return hash("sha256", JSON.stringify(sorted(own)), "base64url")
}

const fromStamp = (key: string): boolean => Stamp.stamped.has(key) || key === "sourceToolAssistantUUID"

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)])
  )
}
