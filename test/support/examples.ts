import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildClient } from '../../scripts/client.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A project with the examples, and with the client as it is installed. */
export async function exampleProject(): Promise<{ directory: string; remove(): void }> {
  const directory = mkdtempSync(join(tmpdir(), 'corral-examples-'))
  const installed = join(directory, 'node_modules/corral')
  mkdirSync(installed, { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'))
  cpSync(join(ROOT, 'examples'), directory, { recursive: true })
  await buildClient(join(installed, 'dist/client'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
