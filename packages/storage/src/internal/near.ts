/**
 * Near: the names that someone may have meant.
 */

/** How many letters have to be put in, taken out or exchanged to make one name of the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

/** How many are worth naming. */
const MOST = 5

/** Those of the names that differ in a quarter of their letters at most, nearest first. What is sought may be a beginning. */
export const of = (sought: string, names: Iterable<string>): ReadonlyArray<string> => {
  const most = Math.max(1, Math.floor(sought.length / 4))
  // One that is too short differs in what it lacks alone.
  const likely = [...new Set(names)].filter((name) => sought.length - name.length <= most + 1)
  return likely
    .map((name) => [distance(sought, name.slice(0, sought.length + 1)), name] as const)
    .filter(([far]) => far <= most + 1)
    .toSorted(([a, one], [b, other]) => a - b || (one < other ? -1 : 1))
    .slice(0, MOST)
    .map(([, name]) => name)
}
