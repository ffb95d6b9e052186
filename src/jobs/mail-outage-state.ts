import { type OutageCause, withoutAddresses } from '../domain/mails/mail-outage.ts'
import type { Log } from '../domain/ports/log-events.ts'

/** The mail outage as all processes share it in the database. */
export type SharedOutage = {
  exists: () => Promise<boolean>
  /** @returns true if the outage is new. */
  begin: (cause: OutageCause, reason: string) => Promise<boolean>
  /** Claims the one probe that all processes share until the next pause ends. @returns true if claimed. */
  claimProbe: () => Promise<boolean>
  /** A mail was accepted. @returns true if there was an outage. */
  end: () => Promise<boolean>
}

export type MailOutageState = ReturnType<typeof createMailOutageState>

/** Tracks whether the mail server accepts mails, as far as this process knows. */
export function createMailOutageState(record: SharedOutage, log: Log) {
  /** True until the first check of the database. */
  let isOn = true
  /** A probe was claimed and not used. */
  let hasProbe = false
  return {
    isOn: () => isOn,
    exists: record.exists,
    async begin(cause: OutageCause, reason: string): Promise<void> {
      isOn = true
      try {
        if (await record.begin(cause, reason))
          log.error({ about: cause, reason: withoutAddresses(reason) }, 'the mail server accepts no mails: they wait')
      } catch (error) {
        log.error({ err: error }, OUTAGE_NOT_RECORDED)
      }
    },
    /** @returns false if the end could not be recorded; the outage then continues. */
    async end(): Promise<boolean> {
      try {
        if (await record.end()) log.info({}, 'the mail server accepts mails again')
      } catch (error) {
        log.error({ err: error }, OUTAGE_NOT_RECORDED)
        return false
      }
      isOn = false
      return true
    },
    /** @returns true if this process may send the probe. */
    async claimProbe(): Promise<boolean> {
      const isClaimed = hasProbe || (await record.claimProbe())
      hasProbe = false
      return isClaimed
    },
    /** Keeps a claimed probe for later, because there was no mail to send. */
    keepProbe(): void {
      hasProbe = true
    },
  }
}

const OUTAGE_NOT_RECORDED = 'the state of the mail server could not be recorded'
