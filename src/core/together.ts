/** Who calls while the work is under way gets what that comes to: it is not done twice at a time. */
export function together<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null
  return () => (underWay ??= work().finally(() => (underWay = null)))
}
