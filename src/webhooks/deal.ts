import type { DueSendings } from '../domain/webhooks/due-sendings.ts'
import type { FairOrder } from '../domain/work/fair-order.ts'

/** Group of all receivers that fail. */
export const FAILING = 'failing'

type Sharing = {
  order: FairOrder
  /** Places in use by an organization, a receiver or {@link FAILING}. */
  heldBy: ReadonlyMap<string, number>
  /** Places for receivers that fail. */
  failingShare: number
  /** How many more sendings a receiver may be sent at a time. */
  roomOf: (due: DueSendings) => number
}

/**
 * Deals free places one by one: to the organization that holds the fewest, of its sendings to the receiver that holds the fewest. Receivers
 * that fail have a part of the places to themselves, so that they neither hold up the others nor wait behind all of them.
 *
 * @returns how many sendings of what is due may begin.
 */
export function deal(due: readonly DueSendings[], free: number, { order, heldBy, failingShare, roomOf }: Sharing): DueSendings[] {
  const dealt = new Map<string, number>()
  const held = (group: string) => (heldBy.get(group) ?? 0) + (dealt.get(group) ?? 0)
  const rankOf = ({ isFailing }: DueSendings) => (!isFailing ? 1 : held(FAILING) < failingShare ? 0 : 2)
  const compare = (one: DueSendings, other: DueSendings) =>
    rankOf(one) - rankOf(other) ||
    order.compare(one.organizationId, other.organizationId, held) ||
    Number(one.isReplay) - Number(other.isReplay) ||
    order.compare(one.receiverId, other.receiverId, held)
  const waiting = due.map((one) => ({ ...one, room: roomOf(one), granted: 0 }))
  for (let left = free; left > 0; left--) {
    const open = waiting.filter(({ receiverId, granted, count, room }) => granted < count && (dealt.get(receiverId) ?? 0) < room)
    if (open.length === 0) break
    const next = open.reduce((best, one) => (compare(one, best) < 0 ? one : best))
    next.granted++
    for (const group of groupsOf(next)) {
      dealt.set(group, (dealt.get(group) ?? 0) + 1)
      order.takeTurn(group)
    }
  }
  return waiting.flatMap(({ granted, room, ...one }) => (granted > 0 ? [{ ...one, count: granted }] : []))
}

/** The groups that a sending to the receiver counts for. */
export const groupsOf = ({ organizationId, receiverId, isFailing }: DueSendings): string[] => [
  organizationId,
  receiverId,
  ...(isFailing ? [FAILING] : []),
]
