/** THIRD-PARTY-NOTICES: the licences of the packages that a build really contains. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'

interface Package {
  name: string
  version: string
  license: string
  /** The texts of its licence files, as they are. */
  texts: string[]
}

/** For packages that are inside of others, where their licences got lost: a line with its name, then the text. */
const LICENCES = join(import.meta.dirname, 'licences')

/** The notices for these modules: paths of files, of which only those below a `node_modules` are of others. */
export function noticesFor(modules: Iterable<string>): string {
  const files = [...modules].map((module) => module.replace(/^\0/, '').replace(/\?.*$/, ''))
  const directories = new Set(files.flatMap((file) => directoryOf(file) ?? []))
  const packages = [...[...directories].map(packageIn), ...files.flatMap(innerPackages)]
  const unique = new Map(packages.map((found) => [`${found.name} ${found.version}`, found]))
  const sorted = [...unique.keys()].toSorted().map((key) => unique.get(key)!)
  const names = sorted.map((found) => `- ${titleOf(found)}`)
  return [HEAD, names.join('\n'), ...sorted.map(sectionOf), ''].join('\n\n')
}

const HEAD = `Corral contains code of others
==============================

These packages are part of the program or of its dashboard. Their licences ask for these notices.`

function titleOf({ name, version, license }: Package): string {
  return `${name} ${version} (${license})`
}

function sectionOf(found: Package): string {
  const line = '-'.repeat(titleOf(found).length)
  return [line, titleOf(found), line, '', found.texts.join('\n\n')].join('\n')
}

/** The directory of the package that a file belongs to; null for a file of ours. */
function directoryOf(path: string): string | null {
  const marker = `${sep}node_modules${sep}`
  const at = path.lastIndexOf(marker)
  if (at < 0) return null
  const [first = '', second = ''] = path.slice(at + marker.length).split(sep)
  return path.slice(0, at + marker.length) + (first.startsWith('@') ? join(first, second) : first)
}

/** Throws for a package without a licence that can be named: nobody may publish what is in it. */
function packageIn(directory: string): Package {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >
  const { name, version, license } = manifest
  if (typeof license !== 'string') throw new Error(`${directory}: package.json names no licence`)
  const files = readdirSync(directory).filter((file) => /^(licen[cs]e|copying|notice)(\b|$)/i.test(file))
  const texts = files.toSorted().map((file) => readFileSync(join(directory, file), 'utf8').trim())
  if (texts.length === 0) texts.push(`Its package has no licence text; its manifest says: ${license}.`)
  return { name: String(name), version: String(version), license, texts }
}

/** Packages that were bundled into a file before it was published: bundlers leave a comment about where each part came from. */
function innerPackages(file: string): Package[] {
  if (!directoryOf(file) || !/\.[cm]?js$/.test(file) || !existsSync(file)) return []
  const found = readFileSync(file, 'utf8').matchAll(/\/\/#region \S*?node_modules\/\.pnpm\/([^/\s]+)\//g)
  return [...new Set([...found].map(([, folder]) => folder!))].map(innerPackage)
}

/** `folder` is pnpm's: `@scope+name@1.2.3_peer@4.5.6`. */
function innerPackage(folder: string): Package {
  const [, key = '', version = ''] = /^(@?[^@]+)@([^_(]+)/.exec(folder) ?? []
  const file = join(LICENCES, `${key}.txt`)
  if (!existsSync(file))
    throw new Error(`${folder} is inside of another package: put its licence into ${file}`)
  const [license = '', ...text] = readFileSync(file, 'utf8').split('\n')
  return { name: key.replace('+', '/'), version, license, texts: [text.join('\n').trim()] }
}
