/** Runs work one after the other, so that each decides on what is committed. For what there is little of. */
export function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}
