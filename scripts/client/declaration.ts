import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * One declaration out of those that the compiler writes, one for each source. It relies on how the compiler writes them: an
 * import or a re-export stands on lines of its own, and a declaration begins with `export`.
 */

const FROM = /^(?:import|export) (?:type )?(\*|\{[^}]*\}) from '(\.[^']+)';\n/gm

/** The declaration `entry` and all that it names, with everything that `entry` exports, and nothing else, exported. */
export function rolledUp(entry: string): string {
  const texts = new Map<string, string>()
  read(entry, texts)
  const exported = exportsOf(entry, texts)
  const needed = reachable(exported, texts)
  const body = [...texts].map(([file, text]) => plain(text, needed.get(file) ?? new Set())).filter(Boolean)
  const names = [...exported].toSorted()
  return `/// <reference lib="esnext.disposable" />\n${body.join('\n')}\nexport { ${names.join(', ')} };\n`
}

/** A file and those that it names, the deepest first. */
function read(file: string, texts: Map<string, string>): void {
  if (texts.has(file)) return
  const text = readFileSync(file, 'utf8')
  texts.set(file, text)
  for (const [, , path] of text.matchAll(FROM)) read(fileOf(file, path!), texts)
  texts.delete(file)
  texts.set(file, text)
}

function fileOf(from: string, path: string): string {
  return join(dirname(from), path.replace(/\.[jt]s$/, '.d.ts'))
}

/** Declarations of a file: their names and their texts, with the comments before them. */
function declarationsOf(text: string): Map<string, string> {
  const plainText = text.replace(FROM, '').replace(/^export \{\};\n/m, '')
  const starts = [
    ...plainText.matchAll(
      /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|let) (\w+)/gm,
    ),
  ]
  return new Map(
    starts.map(({ index, 1: name }, at) => [name!, plainText.slice(index, starts[at + 1]?.index)]),
  )
}

function exportsOf(file: string, texts: Map<string, string>): Set<string> {
  const text = texts.get(file)!
  const own = [
    ...text.matchAll(/^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm),
  ]
  const names = new Set(own.map(([, name]) => name!))
  for (const [whole, what, path] of text.matchAll(FROM)) {
    if (!whole.startsWith('export')) continue
    const found =
      what === '*'
        ? exportsOf(fileOf(file, path!), texts)
        : what!
            .replace(/[{}]/g, '')
            .split(',')
            .map((one) => one.trim().replace(/^type /, ''))
    for (const name of found) if (name !== '') names.add(name)
  }
  return names
}

/** By file, the declarations that the exported ones need. */
function reachable(exported: Set<string>, texts: Map<string, string>): Map<string, Set<string>> {
  const all = new Map<string, { file: string; text: string }>()
  for (const [file, text] of texts) {
    for (const [name, declaration] of declarationsOf(text)) {
      const other = all.get(name)
      if (other && other.file !== file) all.set(name, { file: '', text: '' })
      else all.set(name, { file, text: declaration })
    }
  }
  const needed = new Map<string, Set<string>>()
  const queue = [...exported]
  const seen = new Set<string>()
  for (const name of queue) {
    const found = all.get(name)
    if (!found || seen.has(name)) continue
    seen.add(name)
    if (found.file === '') throw new Error(`two declarations of the client are called ${name}`)
    needed.set(found.file, (needed.get(found.file) ?? new Set()).add(name))
    const code = found.text.replace(/\/\*[\s\S]*?\*\//g, '')
    for (const [word] of code.matchAll(/\b[A-Z]\w+\b/g)) if (all.has(word)) queue.push(word)
    for (const [, word] of code.matchAll(/\btypeof (\w+)\b/g)) if (all.has(word!)) queue.push(word!)
  }
  return needed
}

function plain(text: string, needed: Set<string>): string {
  const kept = [...declarationsOf(text)].filter(([name]) => needed.has(name))
  return kept
    .map(([, one]) =>
      one.replace(/^export (?:declare )?/m, (found) => (/^export (?:declare )?$/.test(found) ? '' : found)),
    )
    .map((one) => one.replace(/^(?=(?:abstract )?(?:class|function|const) )/m, 'declare '))
    .join('')
}
