import type { Silence, Told } from './told.ts'
import type { Played } from './play.ts'
import type { World } from './world.ts'

export interface About {
  world: World
  played: Played
  sessionId: string
  /** For the sizes of pages, and where to begin. */
  random: (below: number) => number
}

/** One way to read a session. */
export interface View {
  name: string
  /** What its protocol cannot tell. */
  silence: Silence
  /** It was watched as it happened, and is not to be read again when retention has removed a part. */
  live?: true
  /** When retention has cut a turn in two, it knows less than others. */
  forgets?: true
  read(about: About): Promise<Told[] | null>
}
