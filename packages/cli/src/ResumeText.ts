/**
 * ResumeText: what was recovered from one file, for people.
 */
import type { Resumed } from "./ResumeJson.ts"

/**
 * The conversation in short lines, the findings, and the interruption.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (resumed: Resumed): string => resumed.file

/**
 * A file that could not be read.
 *
 * @category rendering
 * @since 0.1.0
 */
export const renderError = (error: { readonly message: string }): string => error.message
