import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Tells local clients the port: bare decimal text. */
export async function writePortFile(path: string, port: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, String(port), { mode: 0o600 })
  await rename(fresh, path)
}

/** Removes it, unless another daemon has put its own port there meanwhile. */
export async function removePortFile(path: string, port: number): Promise<void> {
  const content = await readFile(path, 'utf8').catch(() => null)
  if (content?.trim() === String(port)) await rm(path, { force: true })
}
