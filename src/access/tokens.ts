import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'

export type TokenVerdict = 'ok' | 'missing' | 'invalid'

export interface TokenCheck {
  /** Judges the value of an `Authorization` header. */
  check(authorization: string | undefined): TokenVerdict
}

const tokensFile = z.object({
  tokens: z.array(z.object({ token: z.string().min(1) })).nullish(),
})

export interface TokenFileOptions {
  path: string
  /** The file cannot be read or understood: no token is valid then. */
  onProblem?(problem: string): void
}

/** Tokens of a YAML file, `tokens: [{token, label?, created?}]`. The file is looked at on each check: a change holds at once. */
export async function createTokenFile(options: TokenFileOptions): Promise<TokenCheck> {
  const { parse } = await import('yaml') // only who listens for others pays for reading it
  let version = ''
  let digests: Buffer[] = []

  function refresh(): void {
    const current = fileVersion(options.path)
    if (current === version) return
    version = current
    digests = []
    if (current === '') return
    try {
      const content = tokensFile.parse(parse(readFileSync(options.path, 'utf8')) ?? {})
      digests = (content.tokens ?? []).map((entry) => digest(entry.token))
    } catch (error) {
      // Neither YAML's nor zod's message is passed on: they may quote a token.
      const kind = error instanceof Error ? error.name : 'error'
      options.onProblem?.(`${options.path} is not a list of tokens (${kind}); no token is accepted`)
    }
  }

  return {
    check(authorization) {
      const token = bearer(authorization)
      if (token === null) return 'missing'
      refresh()
      const given = digest(token)
      let found = false
      for (const known of digests) found = timingSafeEqual(known, given) || found
      return found ? 'ok' : 'invalid'
    },
  }
}

/** Changes whenever the file does; empty when there is none. */
export function fileVersion(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}` : ''
}

export function bearer(authorization: string | undefined): string | null {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? null
}

/** Digests have one length, whatever the token's, so that comparing takes the same time. */
export function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
