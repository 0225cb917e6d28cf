import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { homeIn, textIn } from '../signed-in.ts'

const SYSTEM = '/etc/codex'

/** Files of the user's, the project's and the machine's that allow commands. Codex reads them whenever it opens a conversation. */
export async function allowingRules(env: NodeJS.ProcessEnv, cwd: string): Promise<string[]> {
  const home = env.CODEX_HOME || join(homeIn(env), '.codex')
  const layers = new Set([SYSTEM, home, ...ancestry(cwd).map((directory) => join(directory, '.codex'))])
  const files = await Promise.all([...layers].map((layer) => rulesIn(join(layer, 'rules'))))
  const judged = files.flat().map(async (file) => ((await mayAllow(file)) ? [file] : []))
  return (await Promise.all(judged)).flat()
}

function ancestry(directory: string): string[] {
  const above = dirname(directory)
  return above === directory ? [directory] : [directory, ...ancestry(above)]
}

async function rulesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => name.endsWith('.rules')).map((name) => join(directory, name))
}

/** A rule that does not say what it decides allows. */
async function mayAllow(file: string): Promise<boolean> {
  const text = (await textIn(file))?.replaceAll(/^\s*#.*$/gm, '') ?? ''
  const [, ...rules] = text.split(/\bprefix_rule\s*\(/)
  return rules.some((rule) => !/\bdecision\s*=\s*["'](?:prompt|forbidden)["']/.test(rule))
}
