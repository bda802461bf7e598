// The body of the create that is measured: about 1.5 KB, as an agent in customer support would send it.

export const approver = "ann.reviewer@example.com";

const example = {
  summary: "Refund 149.00 EUR to customer 88213 for order 2026-104233 (arrived damaged)",
  notify: approver,
  agentName: "support-agent",
  payload: {
    tool: "payments.refund",
    arguments: {
      orderId: "2026-104233",
      customerId: 88213,
      amount: { value: "149.00", currency: "EUR" },
      reason: "damaged_on_arrival",
      lines: [
        { sku: "LMP-2210-BR", title: "Desk lamp, brass", quantity: 1, price: "89.00" },
        { sku: "BLB-0040-WW", title: "Bulb, warm white, pack of 4", quantity: 3, price: "20.00" },
      ],
      notifyCustomer: true,
    },
  },
  metadata: {
    conversation: "conv_7f3a91c2d4",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    tags: ["refund", "damaged", "eu-central"],
  },
  reasoning:
    "The customer sent two photographs that show a broken shade and a bent stem. The order was " +
    "delivered three days ago, so it is within the 30 days of the returns policy. The amount is above " +
    "my limit of 100 EUR, therefore a person has to agree. The customer asked for a refund rather " +
    "than a replacement. The carrier's claim was opened yesterday, so the loss is likely covered; the " +
    "account is four years old, in good standing, and has had one return before.",
  recentActions: [
    "Looked up order 2026-104233 and its delivery on 14 March",
    "Read the returns policy, section 3 (goods damaged in transit)",
    "Asked the customer for photographs and received two",
    "Checked that no refund was paid for this order before",
    "Opened claim C-55810 with the carrier and attached both photographs",
  ],
  ttlMinutes: 1440,
};

export const body = JSON.stringify(example);

/** The state that an agent carries along to continue from, about as large as it may be. */
export const largeState = JSON.stringify({
  messages: Array.from({ length: 400 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `${index}: ${example.reasoning.slice(0, 460)}`,
  })),
});

export const bodyWithLargeState = `${body.slice(0, -1)},"agentState":${largeState}}`;
