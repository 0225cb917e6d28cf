/** No longer than people like the name of a branch. */
const MAX_SLUG = 40

/** A text as a part of the name of a branch: letters and digits of any script, with dashes between. Null: it has neither. */
export function slugOf(text: string): string | null {
  const words = text
    .slice(0, 500)
    .toWellFormed()
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '')
  let slug = ''
  for (const word of words) {
    const longer = slug === '' ? word : `${slug}-${word}`
    if (longer.length > MAX_SLUG) break
    slug = longer
  }
  const [long = ''] = words
  const cut = long.slice(0, MAX_SLUG / 2)
  return slug || (cut.isWellFormed() ? cut : cut.slice(0, -1)) || null
}
