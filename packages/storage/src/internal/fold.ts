/**
 * Fold: a text as people compare it: composed, without case, every gap a space.
 */

/** Equal for texts that look the same but for case and line breaks. */
export const fold = (text: string): string => shown(text).toLowerCase().replaceAll("ς", "σ")

/** The text as it is shown: composed, every gap a space. */
export const shown = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ")
