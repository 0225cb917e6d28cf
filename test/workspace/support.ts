import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createGit, type Git } from '../../src/workspace/git.ts'

/** A folder with git repositories, and a git that knows no settings of the user's. */
export interface Place {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly git: Git
  /** A repository on the branch `main` with one commit of these files. */
  repo(name: string, files?: Record<string, string>): Checkout
  /** A program that leaves a mark when it runs; `ran` says whether it did. */
  trap(then?: string): { readonly command: string; ran(): boolean }
  close(): void
}

/** A checkout that the test changes as a user would. */
export interface Checkout {
  readonly path: string
  git(...args: string[]): string
  write(file: string, content: string): void
  remove(file: string): void
  commit(message?: string): string
}

export function aPlace(extra: NodeJS.ProcessEnv = {}): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-workspace-')))
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...extra,
  }
  const git = createGit(env)
  let traps = 0
  return {
    root,
    env,
    git,
    repo(name, files = { 'a.txt': 'one\ntwo\nthree\n' }) {
      const path = join(root, name)
      mkdirSync(path, { recursive: true })
      const checkout = checkoutAt(path, env)
      checkout.git('init', '-q', '-b', 'main')
      for (const [file, content] of Object.entries(files)) checkout.write(file, content)
      if (Object.keys(files).length > 0) checkout.commit('first')
      return checkout
    },
    trap(then = 'cat') {
      const mark = join(root, `mark-${traps}`)
      const command = join(root, `trap-${traps++}.sh`)
      writeFileSync(command, `#!/bin/sh\ntouch '${mark}'\n${then}\n`, { mode: 0o755 })
      return { command, ran: () => existsSync(mark) }
    },
    close() {
      git.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

export function checkoutAt(path: string, env: NodeJS.ProcessEnv): Checkout {
  const settings = ['user.name=Test', 'user.email=test@example.com', 'protocol.file.allow=always']
  // A cleaning in the background would outlive the test.
  const flags = [...settings, 'gc.auto=0', 'maintenance.auto=false'].flatMap((setting) => ['-c', setting])
  const git = (...args: string[]): string =>
    execFileSync('git', [...flags, ...args], {
      cwd: path,
      env,
      encoding: 'utf8',
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    path,
    git,
    write(file, content) {
      mkdirSync(dirname(join(path, file)), { recursive: true })
      writeFileSync(join(path, file), content)
    },
    remove: (file) => rmSync(join(path, file), { recursive: true }),
    commit(message = 'more') {
      git('add', '-A')
      git('commit', '-q', '-m', message)
      return git('rev-parse', 'HEAD').trim()
    },
  }
}

/** Also when nobody has asked for its exit status yet. */
export function hasEnded(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

/** How many inotify watches this process has. */
export function inotifyWatches(): number {
  const texts = readdirSync('/proc/self/fdinfo').map((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')
    } catch {
      return ''
    }
  })
  return texts.join('').match(/^inotify /gm)?.length ?? 0
}
