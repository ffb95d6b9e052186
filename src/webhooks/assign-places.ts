import type { FairOrder } from '../domain/concurrency/fair-order.ts'
import type { DueSendings } from '../domain/webhooks/due-sendings.ts'

/** Group of all failing receivers. */
export const FAILING = 'failing'

type PlaceSharing = {
  order: FairOrder
  /** Places in use, by organization, receiver, or {@link FAILING}. */
  heldBy: ReadonlyMap<string, number>
  /** Places reserved for failing receivers. */
  failingShare: number
  /** Further concurrent sendings that the receiver may get. */
  roomOf: (due: DueSendings) => number
}

/**
 * Assigns free places one by one: to the organization with the fewest in use, and within it to the receiver with the fewest. Failing receivers have
 * a separate share, so that they neither block others nor starve.
 *
 * @returns the sendings that may start.
 */
export function assignPlaces(
  due: readonly DueSendings[],
  free: number,
  { order, heldBy, failingShare, roomOf }: PlaceSharing,
): DueSendings[] {
  const dealt = new Map<string, number>()
  const held = (group: string) => (heldBy.get(group) ?? 0) + (dealt.get(group) ?? 0)
  const waiting = due.map((one) => ({ ...one, room: roomOf(one), granted: 0 }))
  const isOpen = ({ receiverId, granted, count, room }: WaitingReceiver) => granted < count && (dealt.get(receiverId) ?? 0) < room
  /** Every assigned place moves its organization back, so organizations beyond the first `free` can't get any. */
  const firstOrganizations = (some: WaitingReceiver[]) =>
    [...Map.groupBy(some, ({ organizationId }) => organizationId)]
      .sort(([one], [other]) => order.compare(one, other, held))
      .slice(0, free)
      .map(([, its]) => its)
  const pick = (organizations: WaitingReceiver[][]): WaitingReceiver | undefined => {
    const open = organizations.map((its) => its.filter(isOpen)).filter((its) => its.length > 0)
    const its = firstBy(open, ([one], [other]) => order.compare(one!.organizationId, other!.organizationId, held)) ?? []
    const compareReceivers = (one: WaitingReceiver, other: WaitingReceiver) =>
      order.compare(one.receiverId, other.receiverId, held)
    return firstBy(its, (one, other) => Number(one.isReplay) - Number(other.isReplay) || compareReceivers(one, other))
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

type WaitingReceiver = DueSendings & { room: number; granted: number }

/** The first of equals. */
const firstBy = <T>(some: T[], compare: (one: T, other: T) => number): T | undefined =>
  some.length === 0 ? undefined : some.reduce((first, one) => (compare(one, first) < 0 ? one : first))

/** The groups whose places a sending uses. */
export const groupsOf = ({ organizationId, receiverId, isFailing }: DueSendings): string[] => [
  organizationId,
  receiverId,
  ...(isFailing ? [FAILING] : []),
]
