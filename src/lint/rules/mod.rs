//! The rules. A new rule is one file here with the name of the rule, its `mod` line, and one line
//! in [`RULES`].

mod attribute_not_in_opset;
mod attributes;
mod cast_attribute_invalid;
mod cast_missing_to;
mod cast_result_undefined;
mod cast_type_not_in_opset;
mod collapsible_chain;
mod declared_type_differs_from_cast;
mod declared_type_differs_from_inferred;
mod e8m0_missing_round_mode;
mod external_path_escapes;
mod float16_clipped;
mod float8_cast_missing_saturate;
mod float8_constant_out_of_range;
mod float8_overflow_not_saturated;
mod float8_quantize_missing_saturate;
mod float8_round_trip;
mod float8_stored_as_uint8;
mod fnuz_infinity_changed_in_24;
mod foldable_cast;
mod fractional_to_sub_byte;
mod ineffective_round_mode;
mod ineffective_saturate;
mod invalid_node;
mod ir_version_too_low;
mod name_defined_again;
mod narrowing_overflows_to_infinity;
mod no_kernel_in_target;
mod noqa_names_no_rule;
mod operator_not_in_opset;
mod operator_of_onnxruntime;
mod phrases;
mod precision_lost_and_regained;
mod redundant_cast;
mod rewrite;
mod same_cast_twice;
mod sign_changing_chain;
mod string_cast_not_portable;
mod to_has_wrong_kind;
mod too_new_for_target;
mod wrong_in_target;

use super::{FunctionRule, RuleFacts};

/// All rules, in the order of their codes.
pub static RULES: &[&FunctionRule] = &[
    // RC1: float8 and related types.
    &float8_cast_missing_saturate::RULE,
    &float8_quantize_missing_saturate::RULE,
    &float8_overflow_not_saturated::RULE,
    &float8_constant_out_of_range::RULE,
    &e8m0_missing_round_mode::RULE,
    &ineffective_saturate::RULE,
    &ineffective_round_mode::RULE,
    &float8_stored_as_uint8::RULE,
    &fnuz_infinity_changed_in_24::RULE,
    &float8_round_trip::RULE,
    // RC2: validity.
    &cast_missing_to::RULE,
    &cast_type_not_in_opset::RULE,
    &attribute_not_in_opset::RULE,
    &to_has_wrong_kind::RULE,
    &declared_type_differs_from_cast::RULE,
    &ir_version_too_low::RULE,
    &external_path_escapes::RULE,
    &cast_attribute_invalid::RULE,
    &noqa_names_no_rule::RULE,
    &operator_not_in_opset::RULE,
    &declared_type_differs_from_inferred::RULE,
    &invalid_node::RULE,
    &name_defined_again::RULE,
    // RC3: numerical results.
    &cast_result_undefined::RULE,
    &fractional_to_sub_byte::RULE,
    &string_cast_not_portable::RULE,
    &narrowing_overflows_to_infinity::RULE,
    &precision_lost_and_regained::RULE,
    &sign_changing_chain::RULE,
    &float16_clipped::RULE,
    // RC4: performance.
    &foldable_cast::RULE,
    &redundant_cast::RULE,
    &collapsible_chain::RULE,
    &same_cast_twice::RULE,
    // RC5: runtimes.
    &too_new_for_target::RULE,
    &no_kernel_in_target::RULE,
    &operator_of_onnxruntime::RULE,
    &wrong_in_target::RULE,
];

/// Pairs of rules that may report the same node for the same reason: the first is more specific,
/// and its finding hides that of the second.
pub(super) static MORE_SPECIFIC: &[(&FunctionRule, &FunctionRule)] = &[
    (
        &declared_type_differs_from_cast::RULE,
        &declared_type_differs_from_inferred::RULE,
    ),
    (&declared_type_differs_from_cast::RULE, &invalid_node::RULE),
    (
        &declared_type_differs_from_inferred::RULE,
        &invalid_node::RULE,
    ),
    (&cast_missing_to::RULE, &invalid_node::RULE),
    (&cast_type_not_in_opset::RULE, &operator_not_in_opset::RULE),
    (&cast_type_not_in_opset::RULE, &invalid_node::RULE),
    (&no_kernel_in_target::RULE, &operator_of_onnxruntime::RULE),
    (&attribute_not_in_opset::RULE, &invalid_node::RULE),
    (&to_has_wrong_kind::RULE, &invalid_node::RULE),
    (&cast_attribute_invalid::RULE, &invalid_node::RULE),
    (&precision_lost_and_regained::RULE, &same_cast_twice::RULE),
    (&foldable_cast::RULE, &redundant_cast::RULE),
];

impl RuleFacts {
    /// The rules whose findings about a node are hidden if this rule reports the node.
    pub(crate) fn hides(&self) -> impl Iterator<Item = &'static RuleFacts> {
        MORE_SPECIFIC
            .iter()
            .filter(move |(specific, _)| specific.facts == *self)
            .map(|&(_, general)| &general.facts)
    }
}
