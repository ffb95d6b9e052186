import type { Log } from '../domain/context.ts'
import { type OutageCause, withoutAddresses } from '../domain/mails/mail-outage.ts'

/** What is kept where all processes see it: that the mail server takes nothing at present. */
export type OutageRecord = {
  /** Whether there is an outage. */
  exists: () => Promise<boolean>
  /** There is one. @returns whether nobody has known of it before. */
  begin: (about: OutageCause, reason: string) => Promise<boolean>
  /** Takes the one turn that all processes have between them until the next pause is over. @returns whether it was there to be taken. */
  claimProbe: () => Promise<boolean>
  /** A mail has passed. @returns whether there was an outage until now. */
  end: () => Promise<boolean>
}

export type Outage = ReturnType<typeof createOutage>

/** Whether the mail server takes any mails, as far as this process knows. */
export function createOutage(record: OutageRecord, log: Log) {
  /** Until it has looked, it does not know better. */
  let isOn = true
  /** A turn was claimed, and used for no try. */
  let hasTurn = false
  return {
    isOn: () => isOn,
    exists: record.exists,
    async begin(about: OutageCause, reason: string): Promise<void> {
      isOn = true
      try {
        if (await record.begin(about, reason))
          log.error({ about, reason: withoutAddresses(reason) }, 'the mail server takes no mails: they wait until it does')
      } catch (error) {
        log.error({ err: error }, UNRECORDED)
      }
    },
    /** @returns false where that could not be recorded: it goes on. */
    async end(): Promise<boolean> {
      try {
        if (await record.end()) log.info({}, 'the mail server takes mails again')
      } catch (error) {
        log.error({ err: error }, UNRECORDED)
        return false
      }
      isOn = false
      return true
    },
    /** @returns whether it is this process's turn to try one mail for all. */
    async claimTurn(): Promise<boolean> {
      const isOurs = hasTurn || (await record.claimProbe())
      hasTurn = false
      return isOurs
    },
    /** There was nothing to try. */
    keepTurn(): void {
      hasTurn = true
    },
  }
}

const UNRECORDED = 'whether the mail server takes mails could not be recorded'
