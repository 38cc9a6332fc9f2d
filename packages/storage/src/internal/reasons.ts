/**
 * Reasons: what a failed call to the system means for a log.
 */
import type * as EntryLog from "../EntryLog.ts"
import * as Directories from "./directories.ts"

const byCode: { readonly [code: string]: EntryLog.Reason } = {
  ENOENT: "NotFound",
  ENOTDIR: "NotFound",
  ENOSPC: "NoSpace",
  EDQUOT: "NoSpace",
  EACCES: "Denied",
  EPERM: "Denied",
  EROFS: "ReadOnly",
  ELOOP: "Symlink",
  ESHARED: "SharedDirectory",
  EMFILE: "TooManyFiles",
  ENFILE: "TooManyFiles",
  EIO: "InputOutput"
}

/** The reason of what `node:fs` throws. */
export const of = (cause: unknown): EntryLog.Reason => byCode[Directories.codeOf(cause) ?? ""] ?? "Other"
