import { describe, expect, it } from 'vitest'
import { createFairOrder } from '../../src/domain/concurrency/fair-order.ts'
import { assignPlaces } from '../../src/webhooks/assign-places.ts'

const NOTHING_HELD = new Map<string, number>()
const due = (
  organizationId: string,
  receiverId: string,
  count: number,
  more: { isReplay?: boolean; isFailing?: boolean } = {},
) => ({
  ...{ organizationId, receiverId, count, isReplay: false, isFailing: false },
  ...more,
})

/** Assigns places like the sender. The returned function lists the number of places for each receiver. */
function createAssigner({ limit = 32, failingShare = 2 } = {}) {
  const order = createFairOrder()
  return (waiting: Parameters<typeof assignPlaces>[0], free: number, heldBy: ReadonlyMap<string, number> = NOTHING_HELD) =>
    assignPlaces(waiting, free, { order, heldBy, failingShare, roomOf: () => limit }).map(({ receiverId, isReplay, count }) =>
      [receiverId, ...(isReplay ? ['replay'] : []), count].join(' '),
    )
}

describe("the sender's free capacity", () => {
  it('is divided between organizations, then between the endpoints of each', () => {
    const dealPlaces = createAssigner()
    const waiting = [due('A', 'a1', 50), due('A', 'a2', 50), due('B', 'b1', 50)]
    expect(dealPlaces(waiting, 12)).toEqual(['a1 3', 'a2 3', 'b1 6'])
  })

  it('goes to the organization with fewer attempts in progress', () => {
    const dealPlaces = createAssigner()
    expect(dealPlaces([due('A', 'a1', 50), due('B', 'b1', 50)], 4, new Map([['A', 10]]))).toEqual(['b1 4'])
  })

  it('rotates, so that no organization waits behind the same others forever', () => {
    const dealPlaces = createAssigner()
    const waiting = Array.from({ length: 6 }, (_, i) => due(`${i}`, `r${i}`, 50))
    expect([1, 2, 3].map(() => dealPlaces(waiting, 2))).toEqual([
      ['r0 1', 'r1 1'],
      ['r2 1', 'r3 1'],
      ['r4 1', 'r5 1'],
    ])
  })

  it("goes to an organization's new events before its replays", () => {
    const dealPlaces = createAssigner()
    const waiting = [due('A', 'a1', 50, { isReplay: true }), due('A', 'a2', 3), due('B', 'b1', 50, { isReplay: true })]
    expect(dealPlaces(waiting, 10)).toEqual(['a1 replay 2', 'a2 3', 'b1 replay 5'])
  })

  it("never exceeds an endpoint's limit, with new events and replays together", () => {
    const dealPlaces = createAssigner({ limit: 4 })
    expect(dealPlaces([due('A', 'a1', 3), due('A', 'a1', 50, { isReplay: true })], 10)).toEqual(['a1 3', 'a1 replay 1'])
  })

  it('has a separate share for failing endpoints, so that neither group delays the other', () => {
    const dealPlaces = createAssigner()
    const waiting = [due('A', 'a1', 50), due('B', 'b1', 50, { isFailing: true }), due('C', 'c1', 50, { isFailing: true })]
    expect(dealPlaces(waiting, 10)).toEqual(['a1 8', 'b1 1', 'c1 1'])
    expect(dealPlaces(waiting.slice(1), 3)).toEqual(['b1 2', 'c1 1'])
  })

  it('is assigned with few comparisons, no matter how many organizations wait', () => {
    const order = createFairOrder()
    let comparisons = 0
    const counting: typeof order = {
      ...order,
      compare(...compared) {
        comparisons++
        return order.compare(...compared)
      },
    }
    const [organizations, free] = [2_000, 50]
    const waiting = Array.from({ length: organizations }, (_, i) => due(`${i}`, `r${i}`, 50))
    const dealt = assignPlaces(waiting, free, { order: counting, heldBy: NOTHING_HELD, failingShare: 10, roomOf: () => 4 })
    expect(dealt).toHaveLength(free)
    expect(comparisons).toBeLessThan(organizations * Math.log2(organizations) + free ** 2)
  })
})
