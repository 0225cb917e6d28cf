import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkState, WorkTrees } from '../../src/core/checkpoint.ts'
import { Places } from '../../src/workspace/place.ts'
import { createWorkTrees } from '../../src/workspace/work-trees.ts'
import { aPlace, type Checkout, type Place } from './support.ts'

/** A place with checkpoints. */
export interface KeptPlace extends Place {
  readonly trees: WorkTrees
  take(checkout: Pick<Checkout, 'path'>): Promise<WorkState>
  /** Says how many files were restored. */
  restore(checkout: Checkout, target: WorkState, known: WorkState | null, force?: boolean): Promise<number>
}

export function aKeptPlace(): KeptPlace {
  const place = aPlace()
  const home = join(place.root, 'home')
  const trees = createWorkTrees(place.git, new Places(place.git), { folder: join(home, 'checkpoints'), home })
  return {
    ...place,
    trees,
    async take({ path }) {
      const state = await trees.take(path)
      assert.ok(state)
      return state
    },
    async restore({ path }, target, known, force = false) {
      const saved: WorkState[] = []
      const save = async (state: WorkState) => void saved.push(state)
      const request = { target: target.tree, known: known?.tree ?? null, force, save }
      const { files } = await trees.restore(path, request)
      assert.equal(saved.length, 1)
      return files
    },
  }
}

/** Names and contents of all files of a tree. */
export function filesOf(checkout: Checkout, tree: string): Record<string, string> {
  const names = checkout.git('ls-tree', '-r', '-z', '--name-only', tree).split('\0').slice(0, -1)
  return Object.fromEntries(names.map((name) => [name, checkout.git('cat-file', 'blob', `${tree}:${name}`)]))
}

/** All that a checkpoint must not touch, as it is now. */
export function untouched({ path, git }: Checkout): unknown {
  const dir = git('rev-parse', '--absolute-git-dir').trim()
  const read = (name: string): string => {
    const file = join(dir, name)
    return existsSync(file) ? readFileSync(file, 'latin1') : ''
  }
  const refs = git('for-each-ref')
    .split('\n')
    .filter((line) => !line.includes('refs/corral/checkpoints/'))
  const stat = existsSync(join(dir, 'index')) ? statSync(join(dir, 'index'), { bigint: true }).mtimeNs : 0n
  const names = readdirSync(dir).filter((name) => name !== 'objects')
  const logs = readdirSync(dir, { recursive: true }).filter((name) => String(name).startsWith('logs'))
  return {
    path,
    head: read('HEAD'),
    index: read('index'),
    stat,
    refs,
    names,
    logs,
    reflog: read('logs/HEAD'),
  }
}
