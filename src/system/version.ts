/** `1.2.3` or `1.2.3-rc.1`; what follows a plus sign says nothing about order. */
export const VERSION =
  /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/

/** Below zero: `a` is older than `b`. As semver.org orders them; throws for what is no version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  for (const [index, number] of left.numbers.entries()) {
    const difference = number - right.numbers[index]!
    if (difference !== 0) return difference
  }
  return comparePreviews(left.preview, right.preview)
}

function parse(version: string): { numbers: number[]; preview: string[] } {
  const found = VERSION.exec(version)
  if (!found) throw new Error(`not a version: ${version}`)
  return { numbers: found.slice(1, 4).map(Number), preview: found[4]?.split('.') ?? [] }
}

/** A preview is older than what it is a preview of. */
function comparePreviews(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  for (const [index, part] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    const difference = comparePart(part, other)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function comparePart(a: string, b: string): number {
  const [left, right] = [a, b].map((part) => (/^\d+$/.test(part) ? Number(part) : null))
  if (left != null && right != null) return left - right
  if (left != null) return -1
  if (right != null) return 1
  return a < b ? -1 : a > b ? 1 : 0
}
