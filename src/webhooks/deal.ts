import type { FairOrder } from '../domain/concurrency/fair-order.ts'
import type { DueSendings } from '../domain/webhooks/due-sendings.ts'

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
  const waiting = due.map((one) => ({ ...one, room: roomOf(one), granted: 0 }))
  const isOpen = ({ receiverId, granted, count, room }: Waiting) => granted < count && (dealt.get(receiverId) ?? 0) < room
  /** Each place puts its organization further back, so organizations behind the first `free` get none, however many there are. */
  const firstOrganizations = (some: Waiting[]) =>
    [...Map.groupBy(some, ({ organizationId }) => organizationId)]
      .sort(([one], [other]) => order.compare(one, other, held))
      .slice(0, free)
      .map(([, its]) => its)
  const pick = (organizations: Waiting[][]): Waiting | undefined => {
    const open = organizations.map((its) => its.filter(isOpen)).filter((its) => its.length > 0)
    const its = best(open, ([one], [other]) => order.compare(one!.organizationId, other!.organizationId, held)) ?? []
    const compareReceivers = (one: Waiting, other: Waiting) => order.compare(one.receiverId, other.receiverId, held)
    return best(its, (one, other) => Number(one.isReplay) - Number(other.isReplay) || compareReceivers(one, other))
  }
  const [failing, well] = [true, false].map((is) =>
    firstOrganizations(waiting.filter((one) => one.isFailing === is && isOpen(one))),
  )
  for (let left = free; left > 0; left--) {
    const [first, second] = held(FAILING) < failingShare ? [failing, well] : [well, failing]
    const next = pick(first!) ?? pick(second!)
    if (!next) break
    next.granted++
    for (const group of groupsOf(next)) {
      dealt.set(group, (dealt.get(group) ?? 0) + 1)
      order.takeTurn(group)
    }
  }
  return waiting.flatMap(({ granted, room, ...one }) => (granted > 0 ? [{ ...one, count: granted }] : []))
}

type Waiting = DueSendings & { room: number; granted: number }

/** Of equals the first. */
const best = <T>(some: T[], compare: (one: T, other: T) => number): T | undefined =>
  some.length === 0 ? undefined : some.reduce((first, one) => (compare(one, first) < 0 ? one : first))

/** The groups that a sending to the receiver counts for. */
export const groupsOf = ({ organizationId, receiverId, isFailing }: DueSendings): string[] => [
  organizationId,
  receiverId,
  ...(isFailing ? [FAILING] : []),
]
