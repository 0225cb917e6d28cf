import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A busy machine; where nobody listens the answer comes at once. */
const ANSWER_MS = 2000

/** Tells local clients the port: bare decimal text. False when another daemon that lives has it there already. */
export async function writePortFile(path: string, port: number): Promise<boolean> {
  const before = Number(await readFile(path, 'utf8').catch(() => ''))
  if (before > 0 && before !== port && (await answers(before))) return false
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, String(port), { mode: 0o600 })
  await rename(fresh, path)
  return true
}

/** Whether a daemon of this protocol listens there. */
async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"method":"health.check"}',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    return (await response.text()).includes('"ok":true')
  } catch {
    return false
  }
}

/** Removes it, unless another daemon has put its own port there meanwhile. */
export async function removePortFile(path: string, port: number): Promise<void> {
  const content = await readFile(path, 'utf8').catch(() => null)
  if (content?.trim() === String(port)) await rm(path, { force: true })
}
