import type { IdpFault } from '../domain/ports/identity-provider.ts'

/** What is wrong with a provider's answer. */
export class Fault extends Error {
  readonly fault: IdpFault
  constructor(fault: IdpFault) {
    super(fault.code)
    this.name = 'Fault'
    this.fault = fault
  }
}
