import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

function pinnedIn(path: string): Record<string, string> {
  const file = JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>
  return { ...file['dependencies'], ...file['devDependencies'], ...file['optionalDependencies'] }
}

/** As the table calls them, where it is not by their package. */
const TITLES: Record<string, string> = {
  '@github/copilot': 'GitHub Copilot CLI',
  '@qwen-code/qwen-code': 'Qwen Code',
  '@anthropic-ai/claude-code': 'Claude Code',
  'opencode-linux-x64': 'OpenCode',
}

/** Parts of others: no program of their own. */
const PARTS = new Set(['zod', '@langchain/core'])

test('the programs that are known to work are pinned, and the table names the versions that are run', () => {
  const table = read('docs/relay.md')
    .match(/^\| program [^]*?\n\n/m)![0]
    .replaceAll('`', '')
  const programs = pinnedIn('test/programs/packages/package.json')
  const agents = pinnedIn('test/real/cli/package.json')
  const own = pinnedIn('package.json')
  const shown = [
    ...Object.entries(programs).filter(([name]) => !PARTS.has(name)),
    ...['@anthropic-ai/claude-code', 'opencode-linux-x64'].map((name) => [name, agents[name]!] as const),
    ...['@anthropic-ai/sdk', 'openai'].map((name) => [name, own[name]!] as const),
  ]
  for (const [name, version] of shown) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name)
    assert.ok(table.includes(`${TITLES[name] ?? name} ${version}`), `${name} ${version}`)
  }
})
