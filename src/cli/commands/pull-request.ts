import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { findProgram } from '../../agents/find.ts'
import type { NativeClient } from '../../client/client.ts'
import { text as given, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean } from '../format.ts'
import { findWorktree, type Worktree } from './worktree.ts'

/** Forges take no more. */
const MAX_BODY = 60_000
const MAX_TITLE = 200

interface Request {
  title: string
  body: string
  branch: string
  draft: boolean
}

/** The programs of two forges: what each is asked, and what it reads. */
const FORGES = {
  gh: ({ title, branch, draft }: Request) => [
    'pr',
    'create',
    '--head',
    branch,
    '--title',
    title,
    '--body-file',
    '-',
    ...(draft ? ['--draft'] : []),
  ],
  glab: ({ title, body, branch, draft }: Request) => [
    'mr',
    'create',
    '--yes',
    '--source-branch',
    branch,
    '--title',
    title,
    '--description',
    body,
    ...(draft ? ['--draft'] : []),
  ],
} as const
type Forge = keyof typeof FORGES

/** Commits what is in a worktree, pushes its branch, and has a forge's own program open a request. */
export const pullRequest: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const worktree = await findWorktree(cli, client, fragment)
    const { sessionId, path, branch } = worktree
    if (branch === null) throw new CliError('no branch is checked out in this worktree; check one out first')
    const remote = remoteOf(path)
    const forge = await forgeFor(cli, worktree, remote)
    const { title, body } = await wordsOf(cli, client, sessionId, branch)
    const { ahead } = await client.call('worktree.commit', { sessionId, message: title })
    if (ahead === 0) throw new CliError('the worktree has nothing new yet, so there is nothing to ask for')
    await run(cli, 'git', ['push', '--quiet', '--set-upstream', '--', remote.name, branch], path)
    const request = { title, body, branch, draft: cli.options['draft'] === true }
    const said = await run(cli, forge, FORGES[forge](request), path, forge === 'gh' ? body : '')
    const url = /https?:\/\/\S+/.exec(said)?.[0] ?? null
    if (cli.json) cli.printJson({ sessionId, branch, title, url })
    else cli.print(clean(url ?? said).trim())
  })

interface Remote {
  name: string
  url: string
}

function remoteOf(path: string): Remote {
  const git = (...args: string[]): string =>
    spawnSync('git', ['-C', path, ...args], { encoding: 'utf8' }).stdout
  const names = git('remote').split('\n').filter(Boolean)
  const name = names.includes('origin') ? 'origin' : names[0]
  if (name === undefined)
    throw new CliError('the repository has no remote to push to; add one with: git remote add origin URL')
  return { name, url: git('remote', 'get-url', name).trim() }
}

/** The program that fits where the repository is; of two the one that is installed. */
async function forgeFor(cli: Cli, { path, branch }: Worktree, { name, url }: Remote): Promise<Forge> {
  const order: Forge[] = /gitlab/i.test(url) ? ['glab', 'gh'] : ['gh', 'glab']
  for (const forge of order) if (await findProgram(forge, cli.env)) return forge
  throw new CliError(
    `neither gh nor glab is installed; install one, or push the branch yourself: git -C ${clean(path)} push -u ${clean(name)} ${clean(branch ?? '')}`,
  )
}

/** The title of the session, and the last thing that its agent has said. */
async function wordsOf(
  cli: Cli,
  client: NativeClient,
  sessionId: string,
  branch: string,
): Promise<{ title: string; body: string }> {
  const session = await client.call('session.get', { sessionId }).catch(unlessGone)
  const turns = session ? (await client.call('turn.list', { sessionId, limit: 20 })).turns : []
  const answer = turns.find((turn) => turn.text)?.text ?? ''
  const title = given(cli.options['title']) ?? session?.name ?? branch
  return { title: clean(title).slice(0, MAX_TITLE), body: clean(answer).slice(0, MAX_BODY) }
}

/** The work of a session may outlive it. */
function unlessGone(error: unknown): null {
  if ((error as { code?: unknown }).code === 'session_not_found') return null
  throw error
}

/** What the program prints; what it remarks goes to the terminal. */
async function run(cli: Cli, program: string, args: string[], cwd: string, input?: string): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: cli.env,
    stdio: [input === undefined ? 'inherit' : 'pipe', 'pipe', 'inherit'],
  })
  child.stdin?.on('error', () => {}) // it need not read all of it
  child.stdin?.end(input)
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [said, code] = await Promise.all([text(child.stdout!), exited])
  if (code === 0) return said
  throw new CliError(`${program} ${args[0]} ended with code ${code}; what it said is above`, EXIT.error)
}
