import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Installed {
  /** Its `node_modules`. */
  modules: string
  remove(): void
}

/** The newest versions of packages, in a folder to be thrown away; their own scripts are not run. */
export async function installNewest(packages: string[]): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), 'corral-drift-npm-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  const args = ['install', '--prefix', folder, ...options, ...packages.map((name) => `${name}@latest`)]
  const npm = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  npm.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)))
  try {
    const [code] = (await once(npm, 'close')) as [number | null]
    if (code !== 0) throw new Error(`npm install ended with ${code}: ${said.trim()}`)
  } catch (error) {
    remove()
    throw error
  }
  return { modules: join(folder, 'node_modules'), remove }
}
