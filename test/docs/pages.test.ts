import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/program.ts'
import { loadConfig } from '../../src/config/config.ts'
import { SETTINGS } from '../../src/config/schema.ts'
import { allBlocks, PAGES, ROOT, textOf } from './extract.ts'

/** Without code: what is in there is no link and no heading. */
function proseOf(text: string): string {
  return text
    .replaceAll(/^( *)(`{3,})[^]*?^\1\2$/gm, '')
    .replaceAll(/`[^`\n]+`/g, (code) => code.replaceAll(/[[\]()]/g, ''))
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  const plain = text.replaceAll(/^( *)(`{3,})[^]*?^\1\2$/gm, '')
  return new Set(
    [...plain.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) => {
      const words = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const slug = words
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-')
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    }),
  )
}

interface Link {
  page: string
  target: string
  anchor: string
}

/** Links between pages, and to files of the repository; pictures are such files. */
function linksIn(page: string): Link[] {
  const text = proseOf(textOf(page))
  const pictures = text.matchAll(/\b(?:src|srcset)="([^"\s]+)"/g)
  return [...text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g), ...pictures]
    .filter(([, path = '']) => !/^\w+:/.test(path))
    .map(([, path = '', anchor = '']) => {
      const target = path === '' ? page : normalize(join(dirname(page), path))
      return { page, target, anchor }
    })
}

const links = PAGES.flatMap(linksIn)

test('every link leads somewhere, also to its place in the page', () => {
  assert.ok(links.length > 150, `${links.length} links`)
  for (const { page, target, anchor } of links) {
    assert.ok(existsSync(join(ROOT, target)), `${page}: there is no ${target}`)
    if (anchor === '') continue
    assert.ok(anchorsOf(textOf(target)).has(anchor), `${page}: ${target} has no heading #${anchor}`)
  }
})

test('every page is in the index', () => {
  const listed = new Set(links.filter(({ page }) => page === 'docs/README.md').map(({ target }) => target))
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => page !== 'docs/README.md')
  assert.deepEqual(
    pages.filter((page) => !listed.has(page)),
    [],
  )
})

test('the settings in the pages are settings, as the daemon reads them', async () => {
  const blocks = allBlocks().filter(({ kind, text }) => kind === 'yaml' && !text.startsWith('# ~/'))
  assert.ok(blocks.length > 15, `${blocks.length} of them`)
  const home = mkdtempSync(join(tmpdir(), 'corral-config-'))
  try {
    for (const { page, line, text } of blocks) {
      writeFileSync(join(home, 'config.yaml'), text)
      const config = await loadConfig({ env: {}, flags: { home } }).catch((error: Error) =>
        assert.fail(`${page}:${line}: ${error.message}`),
      )
      assert.equal(config.home, home)
    }
  } finally {
    rmSync(home, { recursive: true })
  }
})

test('every setting is explained, with an example', () => {
  const page = textOf('docs/configuration.md')
  for (const { path, env } of SETTINGS) {
    const [section, key] = path
    const [, part = ''] = page.split(`\n## ${section}\n`)
    const own = part.split('\n## ')[0]!
    assert.ok(own.includes(`| \`${key}\` |`) && own.includes(`\`${env}\``), path.join('.'))
    assert.match(own, new RegExp(`^  ${key}: \\S`, 'm'), `an example of ${path.join('.')}`)
  }
})

test('what is called JSON is JSON, as one value or as one in each line', () => {
  const blocks = allBlocks().filter(({ kind }) => kind === 'json')
  assert.ok(blocks.length > 5, `${blocks.length} of them`)
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  for (const { page, line, text } of blocks)
    assert.ok(isJson(text) || text.trim().split('\n').every(isJson), `${page}:${line}`)
})

test('the figures of the README are rows of benchmarks', () => {
  const [, rows = ''] = textOf('bench/readme.ts').split('const ROWS = [')
  const names = [...rows.split(']')[0]!.matchAll(/'([^']+)'/g)].map(([, name]) => name!)
  assert.equal(names.length, 5)
  const others = globSync('bench/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('readme.ts'))
  const measured = others.map(textOf).join('\n')
  for (const name of names) assert.ok(measured.includes(`'${name}'`), name)
  const [, figures = ''] = textOf('README.md').split('\n## Five figures\n')
  assert.equal([...figures.split('\n## ')[0]!.matchAll(/^\| [^|\s]/gm)].length, names.length)
})

test('every command and every option is in the page about the command line', () => {
  const [, page = ''] = textOf('docs/cli.md').split('\n## Commands\n')
  for (const { name, args, options = [] } of COMMANDS) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${`${name} ${args}`.trim()}\` |`))
    assert.ok(row !== undefined, name)
    for (const [flags, , kind] of options)
      if (kind !== 'old') assert.ok(row.includes(`\`${flags}\``), `${name} ${flags}`)
  }
})

/** All that the program and the dashboard can say. */
const SOURCES = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}', 'bin/*.js'], { cwd: ROOT })
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n')
  .replaceAll(/['`]\s*\+\s*['`]/g, '')

/** What people see, by the tables that say what to do about it: the words in their first column. */
function symptomsIn(text: string): string[] {
  const rows: string[] = []
  let isTable = false
  for (const line of text.split('\n')) {
    if (line.startsWith('| You see |')) isTable = true
    else if (!line.startsWith('|')) isTable = false
    else if (isTable) rows.push(line.split(' | ')[0]!.slice(2))
  }
  const said = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`|\*([^*]+)\*/g)])
  return said.map(([, code, spoken]) => code ?? spoken!)
}

/** Not said by Corral: what people type, settings, and what the system or an agent says. */
const NOT_OURS = /^(corral|codex) |^(agents\.goose|EADDRINUSE)|^No conversation found/

test('the symptoms in the pages are words of the program', () => {
  const unknown: string[] = []
  let count = 0
  for (const page of PAGES)
    for (const symptom of symptomsIn(textOf(page)))
      for (const fragment of symptom.split('…').map((part) => part.replace(/^[\s;:,]+|[\s;:,]+$/g, ''))) {
        if (fragment.length < 8 || NOT_OURS.test(fragment)) continue
        count++
        if (!SOURCES.includes(fragment)) unknown.push(`${page}: ${fragment}`)
      }
  assert.deepEqual(unknown, [])
  assert.ok(count > 40, `${count} of them`)
})
