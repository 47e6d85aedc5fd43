"""What torch's functions, methods and modules give back, by name.

The tests hold the lists against the installed torch.
"""

from __future__ import annotations

from breakfinder.source.kinds import (
    ARRAY,
    CONTAINER,
    INDICES,
    LIKELY_TENSOR,
    MASK,
    NUMBER,
    OTHER,
    SIZE,
    TENSOR,
    TENSORS,
    TEXT,
    UNKNOWN,
    Value,
    tuple_of,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MASK_OPS = _words(
    """
    all any bool eq ge greater greater_equal gt isclose isfinite isin isinf isnan isneginf isposinf
    isreal le less less_equal logical_and logical_not logical_or logical_xor lt ne not_equal signbit
    """
)
INDEX_OPS = _words(
    """
    argmax argmin argsort argwhere bincount bucketize byte count_nonzero int long nonzero randperm
    searchsorted short tril_indices triu_indices
    """
)
KEEPING_OPS = _words(
    """
    broadcast_to clone contiguous cpu cuda detach expand expand_as flatten flip index_select masked_fill
    movedim narrow permute ravel repeat repeat_interleave reshape reshape_as roll select squeeze
    swapaxes t tile transpose unflatten unsqueeze view view_as
    """
)
"""The dtype of the result is that of the tensor."""
TUPLE_OPS: dict[str, Value] = {
    "aminmax": tuple_of(TENSOR, TENSOR),
    "cummax": tuple_of(TENSOR, INDICES),
    "cummin": tuple_of(TENSOR, INDICES),
    "frexp": tuple_of(TENSOR, TENSOR),
    "kthvalue": tuple_of(TENSOR, INDICES),
    "mode": tuple_of(TENSOR, INDICES),
    "sort": tuple_of(TENSOR, INDICES),
    "std_mean": tuple_of(TENSOR, TENSOR),
    "topk": tuple_of(TENSOR, INDICES),
    "var_mean": tuple_of(TENSOR, TENSOR),
    "geqrf": tuple_of(TENSOR, TENSOR),
    "qr": tuple_of(TENSOR, TENSOR),
    "slogdet": tuple_of(TENSOR, TENSOR),
    "svd": tuple_of(TENSOR, TENSOR, TENSOR),
}
LIST_OPS = _words(
    """
    broadcast_tensors chunk dsplit hsplit meshgrid split split_with_sizes tensor_split unbind
    unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit
    """
)
EXTREMES = frozenset(("max", "min", "median", "nanmedian"))
"""Of these the result is a tensor, or values and indices if a dimension is given."""
UNSURE_OPS = frozenset(("unique", "unique_consecutive", "histogram", "lu", "norm_except_dim", "lobpcg"))
"""Of these it depends on the arguments whether the result is a tensor or a tuple."""
_OPS = _words(
    """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr adjoint amax amin angle arccos
    arccosh arcsin arcsinh arctan arctan2 arctanh as_strided asin asinh atan atan2 atanh baddbmm
    bernoulli bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
    ceil cholesky clamp clamp_max clamp_min clip conj copysign corrcoef cos cosh cov cross cumprod
    cumsum deg2rad det diag diag_embed diagflat diagonal diagonal_scatter diff digamma dist div divide
    dot erf erfc erfinv exp exp2 expm1 fill fix fliplr flipud float_power floor floor_divide fmax fmin
    fmod frac gather gcd hardshrink heaviside histc hypot i0 igamma imag index_add index_copy index_fill
    index_put index_reduce inner inverse istft kron lcm ldexp lerp lgamma log log10 log1p log2
    log_softmax logaddexp logaddexp2 logcumsumexp logdet logit logsumexp masked_scatter masked_select
    matmul matrix_exp matrix_power maximum mean minimum mm moveaxis msort mul multinomial multiply mv
    nan_to_num nanmean nanquantile nansum neg negative nextafter norm outer pinverse polygamma positive
    pow prelu prod put quantile rad2deg real reciprocal relu remainder renorm rot90 round rsqrt scatter
    scatter_add scatter_reduce select_scatter sgn sigmoid sign sin sinc sinh slice_scatter softmax sqrt
    square std stft sub subtract sum swapdims take take_along_dim tan tanh trace tril triu true_divide
    trunc unfold var vdot where xlogy zero
    """
)
_METHODS_ONLY = _words(
    """
    apply bfloat16 cauchy cdouble cfloat chalf char coalesce copy data dequantize double exponential
    fill_diagonal float geometric half log_normal masked_fill new_empty new_full new_ones new_tensor
    new_zeros normal pin_memory random requires_grad resize resolve_conj resolve_neg set share_memory
    sum_to_size to to_dense to_padded_tensor to_sparse type_as uniform
    """
)
_FUNCTIONS_ONLY = _words(
    """
    alpha_dropout arange as_tensor asarray atleast_1d atleast_2d atleast_3d avg_pool1d bartlett_window
    batch_norm bilinear blackman_window block_diag bucketize cartesian_prod cat cdist celu chain_matmul
    channel_shuffle column_stack combinations complex concat concatenate conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity dropout dstack einsum embedding
    empty empty_like empty_strided eye from_numpy frombuffer full full_like grid_sampler group_norm
    hamming_window hann_window hstack instance_norm isin kaiser_window layer_norm linspace logspace
    multinomial native_dropout normal ones ones_like pairwise_distance pixel_shuffle pixel_unshuffle
    poisson polar rand rand_like randint randint_like randn randn_like randperm range rms_norm row_stack
    rrelu scalar_tensor searchsorted segment_reduce selu sparse_coo_tensor sparse_csr_tensor stack
    tensor tensordot threshold trapezoid tril_indices triu_indices vander view_as_complex view_as_real
    vstack zeros zeros_like
    """
)
_NUMBER_METHODS = _words(
    """
    allclose data_ptr dense_dim dim element_size equal get_device is_coalesced is_complex is_conj
    is_contiguous is_floating_point is_inference is_neg is_nonzero is_pinned is_same_size is_set_to
    is_shared is_signed item ndimension nelement numel sparse_dim storage_offset
    """
)
_NUMBER_FUNCTIONS = _words(
    """
    allclose are_deterministic_algorithms_enabled can_cast equal get_num_threads initial_seed
    is_autocast_enabled is_complex is_conj is_floating_point is_grad_enabled is_inference
    is_inference_mode_enabled is_nonzero is_same_size is_storage is_tensor numel seed sym_float sym_int
    sym_max sym_min
    """
)
_OTHER_FUNCTIONS = _words(
    """
    Generator Size autocast compile device dtype enable_grad finfo get_autocast_cpu_dtype
    get_autocast_dtype get_autocast_gpu_dtype get_default_device get_default_dtype iinfo inference_mode
    manual_seed no_grad promote_types result_type save set_default_dtype set_grad_enabled
    set_num_threads vmap
    """
)
_METHODS = _OPS | _METHODS_ONLY | MASK_OPS | INDEX_OPS | KEEPING_OPS | {"cross", "cpu", "cuda"}
_FUNCTIONS = (_OPS | _FUNCTIONS_ONLY | MASK_OPS | INDEX_OPS | KEEPING_OPS) - {"bool", "long", "int", "short"}

_SHARED_WITH_ARRAYS = _words(
    """
    all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot fill flatten imag
    item max mean min nonzero prod put ravel real repeat reshape resize round searchsorted sort squeeze
    std sum swapaxes take tolist trace transpose var view
    """
)
_SHARED_WITH_OTHERS = _words(
    """
    add apply bfloat16 bool byte char clear coalesce copy cpu cuda data detach diff dim dist div divide
    double eq equal exp exp2 expand extend fill fix flip float gather ge get_device gt half index int le
    log long lt mode mul ne neg norm normal pin_memory pow random replace requires_grad roll scatter
    select set share_memory short sign size split square sub t tile to type type_as unfold uniform
    unique values where zero
    """
)
TELLING_METHODS = (_METHODS | set(TUPLE_OPS) | LIST_OPS) - _SHARED_WITH_ARRAYS - _SHARED_WITH_OTHERS
"""What has such a method is a tensor."""

TENSOR_ATTRIBUTES: dict[str, Value] = {
    **dict.fromkeys(("T", "mT", "H", "mH", "real", "imag", "data", "grad"), TENSOR),
    **dict.fromkeys(
        _words(
            """
            ndim itemsize nbytes is_cuda is_cpu is_meta is_mps is_sparse is_quantized is_nested
            is_xla is_leaf requires_grad retains_grad output_nr
            """
        ),
        NUMBER,
    ),
    **dict.fromkeys(("dtype", "device", "layout", "grad_fn"), OTHER),
    "shape": SIZE,
}

FUNCTIONAL_TUPLES: dict[str, Value] = {
    "multi_head_attention_forward": tuple_of(TENSOR, Value(TENSOR.kind, optional=True)),
    **{f"max_pool{n}d_with_indices": tuple_of(TENSOR, INDICES) for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d_with_indices": tuple_of(TENSOR, INDICES) for n in (1, 2, 3)},
    **{f"fractional_max_pool{n}d_with_indices": tuple_of(TENSOR, INDICES) for n in (2, 3)},
}
_LINALG_TUPLES: dict[str, Value] = {
    "eig": tuple_of(TENSOR, TENSOR),
    "eigh": tuple_of(TENSOR, TENSOR),
    "inv_ex": tuple_of(TENSOR, INDICES),
    "cholesky_ex": tuple_of(TENSOR, INDICES),
    "lstsq": tuple_of(TENSOR, TENSOR, TENSOR, TENSOR),
    "lu": tuple_of(TENSOR, TENSOR, TENSOR),
    "lu_factor": tuple_of(TENSOR, TENSOR),
    "qr": tuple_of(TENSOR, TENSOR),
    "slogdet": tuple_of(TENSOR, TENSOR),
    "svd": tuple_of(TENSOR, TENSOR, TENSOR),
}

RECURRENT: dict[str, Value] = {
    "torch.nn.LSTM": tuple_of(TENSOR, tuple_of(TENSOR, TENSOR)),
    "torch.nn.GRU": tuple_of(TENSOR, TENSOR),
    "torch.nn.RNN": tuple_of(TENSOR, TENSOR),
    "torch.nn.LSTMCell": tuple_of(TENSOR, TENSOR),
    "torch.nn.MultiheadAttention": tuple_of(TENSOR, Value(TENSOR.kind, optional=True)),
}
CONTAINERS_OF_MODULES = frozenset(("torch.nn.ModuleList", "torch.nn.ModuleDict"))
CONTAINERS_OF_PARAMETERS = frozenset(("torch.nn.ParameterList", "torch.nn.ParameterDict"))
_UNSURE_MODULES = frozenset(("Sequential", "Module", "Container", "DataParallel", "Transformer"))


def function_result(name: str) -> Value:
    """What a function of torch gives, by its full name; of one whose result depends on its arguments, unknown."""
    if name.startswith("torch.nn.functional."):
        last = name[20:]
        return UNKNOWN if "." in last else FUNCTIONAL_TUPLES.get(last, TENSOR)
    head, _, last = name.rpartition(".")
    if head == "torch":
        return _named(last, _FUNCTIONS, _NUMBER_FUNCTIONS, OTHER if last in _OTHER_FUNCTIONS else UNKNOWN)
    if head in ("torch.linalg", "torch.fft", "torch.special", "torch.nn.init"):
        if head == "torch.linalg":
            return _LINALG_TUPLES.get(last, TENSOR)
        return TENSOR
    if name in ("torch.nn.utils.rnn.pad_sequence", "torch.nn.Parameter", "torch.nn.Buffer", "torch.Tensor"):
        return TENSOR
    if name.startswith(
        ("torch.compiler.is_", "torch.jit.is_", "torch.distributed.get_", "torch.distributed.is_")
    ):
        return NUMBER
    if name.startswith(("torch.cuda.is_", "torch.backends.", "torch.overrides.", "torch.cuda.device_count")):
        return NUMBER
    return UNKNOWN


def method_result(name: str) -> Value:
    """What a method of a tensor gives, by its name; of one that tensors do not have, unknown."""
    if name in ("size", "stride"):
        return SIZE
    if name == "tolist":
        return CONTAINER
    if name == "numpy":
        return ARRAY
    if name == "type":
        return TEXT
    return _named(name, _METHODS, _NUMBER_METHODS, UNKNOWN)


def module_result(name: str) -> Value:
    """What a module gives when it is called, by the full name of its class."""
    if name in RECURRENT:
        return RECURRENT[name]
    head, _, last = name.rpartition(".")
    if head == "torch.nn" and last not in _UNSURE_MODULES:
        return TENSOR
    return LIKELY_TENSOR


def is_module_class(name: str) -> bool:
    """Whether a full name is that of one of torch's own modules."""
    head, _, last = name.rpartition(".")
    return (
        head in ("torch.nn", "torch.nn.modules")
        and last[:1].isupper()
        and last not in ("Parameter", "Buffer")
    )


def _named(name: str, tensors: frozenset[str], numbers: frozenset[str], otherwise: Value) -> Value:
    if name in numbers:
        return NUMBER
    if name in TUPLE_OPS:
        return TUPLE_OPS[name]
    if name in LIST_OPS:
        return TENSORS
    if name in UNSURE_OPS:
        return LIKELY_TENSOR
    if name in EXTREMES:
        return TENSOR
    plain = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    if plain not in tensors:
        return otherwise
    if plain in MASK_OPS:
        return MASK
    return INDICES if plain in INDEX_OPS else TENSOR
