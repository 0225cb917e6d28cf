/**
 * Builds `corral/client`: one file for Node and one for browsers, and one declaration for both, which needs no other package.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { minify } from 'rolldown/utils'
import { rolldown } from 'rolldown'
import { browserOnly } from './web.ts'
import { rolledUp } from './client/declaration.ts'

const ROOT = join(import.meta.dirname, '..')

export interface ClientBuild {
  /** Every file that something was taken from. */
  modules: string[]
  /** What a page loads of it, minified and compressed. */
  browserBytes: number
}

export async function buildClient(directory: string): Promise<ClientBuild> {
  const node = await bundle('node', directory)
  const browser = await bundle('browser', directory)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'index.d.ts'), declaration())
  const code = readFileSync(join(directory, 'browser.js'), 'utf8')
  const small = await minify('browser.js', code, { module: true })
  return { modules: [...node, ...browser], browserBytes: gzipSync(small.code, { level: 9 }).length }
}

async function bundle(platform: 'node' | 'browser', dir: string): Promise<string[]> {
  const made = await rolldown({
    cwd: ROOT,
    input: { [platform]: `src/client/${platform}.ts` },
    platform,
    ...(platform === 'node'
      ? { external: [/^node:/, 'bufferutil', 'utf-8-validate'] }
      : { plugins: [browserOnly()] }),
    checks: { bundlerTimings: false },
  })
  const { output } = await made.write({
    dir,
    format: 'esm',
    minify: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'part-[name]-[hash].js',
  })
  await made.close()
  return output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
}

/** What the compiler says of the sources, as one text. */
function declaration(): string {
  const out = mkdtempSync(join(tmpdir(), 'corral-types-'))
  const config = join(ROOT, 'scripts/client/tsconfig.json')
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  try {
    execFileSync(process.execPath, [compiler, '-p', config, '--outDir', out], { stdio: 'inherit' })
    return rolledUp(join(out, 'client/node.d.ts'))
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** For people. */
export function clientLine({ browserBytes }: ClientBuild): string {
  return `client: ${(browserBytes / 1000).toFixed(1)} kB compressed in a page`
}

if (import.meta.main) {
  const directory = resolve(process.argv[2] ?? join(ROOT, 'dist/client'))
  mkdirSync(dirname(directory), { recursive: true })
  console.log(clientLine(await buildClient(directory)))
}
