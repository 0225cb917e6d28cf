/**
 * Makes a single executable for this system, build/corral: Node's own executable with the program, the log's writer thread, the
 * demo agent and the dashboard inside. It needs nothing else to run, and unpacks nothing.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { inject } from 'postject'
import { rolldown } from 'rolldown'
import { noticesFor } from './notices/notices.ts'
import { buildWeb } from './web.ts'

const ROOT = join(import.meta.dirname, '..')
/** What Node looks for in itself: https://nodejs.org/api/single-executable-applications.html. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const RESOURCE = 'NODE_SEA_BLOB'

const target = resolve(ROOT, process.argv[2] ?? 'build/corral')
const work = `${target}.parts`
rmSync(work, { recursive: true, force: true })
mkdirSync(work, { recursive: true })

const modules = [
  ...(await singleFile('scripts/binary/main.ts', 'main.js')),
  ...(await singleFile('src/store/writer.ts', 'writer.js')),
]
const web = await buildWeb(join(work, 'web'))
writeNotices([...modules, ...web.modules])
const blob = makeBlob()
copyFileSync(process.execPath, target)
chmodSync(target, 0o755)
slim(target)
const isMac = process.platform === 'darwin'
// A signature on a file that has changed is worse than none.
if (isMac) execFileSync('codesign', ['--remove-signature', target])
await inject(target, RESOURCE, readFileSync(blob), {
  sentinelFuse: FUSE,
  ...(isMac && { machoSegmentName: 'NODE_SEA' }),
})
if (isMac) execFileSync('codesign', ['--sign', '-', target])
rmSync(work, { recursive: true })
const version = execFileSync(target, ['--version'], { encoding: 'utf8' }).trim()
const megabytes = (statSync(target).size / 1e6).toFixed(0)
console.log(
  `${relative(process.cwd(), target)}: corral ${version} with Node ${process.versions.node}, ${megabytes} MB`,
)

/** Beside the executable: who passes it on passes these on. */
function writeNotices(modules: string[]): void {
  const { node } = process.versions
  const own = `The executable also contains Node.js ${node} and what that contains; its licences are at\nhttps://github.com/nodejs/node/blob/v${node}/LICENSE\n`
  writeFileSync(join(dirname(target), 'THIRD-PARTY-NOTICES'), `${noticesFor(modules)}\n${own}`)
}

/** Without Node's symbols, which only a debugger wants, it is an eighth smaller. */
function slim(file: string): void {
  if (process.platform !== 'linux') return
  try {
    execFileSync('strip', [file])
  } catch {
    console.log('there is no `strip` here: the executable stays larger than it need be')
  }
}

/** Everything in one file: an executable has no directory to load more from. Returns what it is made of. */
async function singleFile(input: string, name: string): Promise<string[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    input,
    platform: 'node',
    external: [/^node:/, 'bufferutil', 'utf-8-validate'],
  })
  const { output } = await bundle.write({ file: join(work, name), format: 'cjs', codeSplitting: false })
  await bundle.close()
  return output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
}

function makeBlob(): string {
  const inside = readdirSync(join(work, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(work, 'web', name)).isFile())
    .map((name) => `web/${name}`)
  const assets = ['writer.js', ...inside].map((name) => [name, join(work, name)])
  const output = join(work, 'corral.blob')
  const config = {
    main: join(work, 'main.js'),
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: { ...Object.fromEntries(assets), 'package.json': join(ROOT, 'package.json') },
  }
  writeFileSync(join(work, 'sea.json'), JSON.stringify(config))
  execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'sea.json')])
  return output
}
