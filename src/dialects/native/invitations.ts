import { invitationTo, placeOf, type Invitation } from '../../access/invitation.ts'
import type { Daemon } from '../ports.ts'

/** Where a device goes with its PIN. */
export interface Invitations {
  /** To ClawDE's listener, for its applications; null: it is not open. */
  clawde: Invitation | null
  /** To the front door, for programs that speak this API; null: it is not open. */
  native: string | null
  /** To the dashboard, for a browser; the PIN stands behind the `#`, where no log has it. Null: the front door is closed. */
  page: string | null
  /** Whether other machines reach any of them. */
  reachable: boolean
}

export function invitations(
  daemon: Pick<Daemon, 'listeners' | 'id'>,
  path: string,
  name: () => string,
): (pin: string) => Promise<Invitations> {
  return async (pin) => {
    const addressOf = (wanted: string) => daemon.listeners().find((one) => one.name === wanted)?.address
    const [theirs, ours] = [addressOf('clawde'), addressOf('corral')]
    const clawde = theirs ? invitationTo(theirs, { pin, name: name(), daemonId: await daemon.id() }) : null
    const own = ours ? placeOf(ours.replace(/^http/, 'ws')) : null
    return {
      clawde,
      native: own && `${own.url}${path}`,
      page: own && `${own.url.replace(/^ws/, 'http')}/signin#pin=${pin}`,
      reachable: (clawde?.reachable || own?.reachable) ?? false,
    }
  }
}
