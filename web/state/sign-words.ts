/** What a window is called, with how many need the person in front of it. */
export function titleWith(page: string, count: number): string {
  const name = page === '' ? 'Corral' : `${page} · Corral`
  return count === 0 ? name : `(${count}) ${name}`
}

/** An icon with the number on it, as an address. */
export function iconWith(count: number): string {
  if (count === 0) return '/icons/mark.svg'
  const text = count > 9 ? '9+' : String(count)
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#b45309"/>` +
    `<text x="16" y="23" font-family="system-ui,sans-serif" font-size="${text.length > 1 ? 17 : 21}" font-weight="700" ` +
    `text-anchor="middle" fill="#fff">${text}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
